# make demo    install, train on the starter corpus, translate, score (some minutes on two cores);
#              by updates and not by the clock, and an error where the score is far too low
# make test    install, run the tests
# make check   linters, types, tests: what must pass before a commit
# make extras  install what is optional, too; tests of it are skipped without
# make browser  install Chromium where it is not (Debian, as root); tests of pages are skipped without
# make bench   measure training on a folder with train/val/test text: make bench CORPUS=folder
# make fuzz    damage files, folders and flags at random: make fuzz EXAMPLES=1000
# make clean   remove the virtual environment and the demo's model

PYTHON ?= python3
BIN := .venv/bin
DEMO := checkpoints/starter-de-en
STARTER := data/starter
EXAMPLES := 200

.PHONY: demo test lint check extras browser bench fuzz clean

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "mt needs Python 3.11 or later: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: .venv/installed
	rm -rf $(DEMO)
	$(BIN)/mt train $(STARTER)/train.de $(STARTER)/train.en \
	    --dev $(STARTER)/dev.de --dev $(STARTER)/dev.en --updates 400 --set training.warmup_updates=100 -o $(DEMO)
	head -n 5 $(STARTER)/test.de
	head -n 5 $(STARTER)/test.de | $(BIN)/mt translate -m $(DEMO)
	$(BIN)/mt eval -m $(DEMO) $(STARTER)/test.de $(STARTER)/test.en | awk '\
	    { print } $$1 == "BLEU" { bleu = $$2 } \
	    END { if (bleu < 80) { print "make demo: BLEU is below 80" > "/dev/stderr"; exit 1 } }'

test: .venv/installed
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal --durations 10

lint: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: lint test

extras: .venv/installed
	$(BIN)/python -m pip install --quiet --constraint constraints.txt \
	    --editable '.[dev,figures,tensorboard,ctranslate2,huggingface,serve]'

browser:
	command -v chromium || command -v chromium-browser || command -v google-chrome || \
	    { apt-get update -q && apt-get install -q -y --no-install-recommends chromium; }

bench: .venv/installed
	$(BIN)/python benchmarks/time_to_quality.py $(CORPUS)

fuzz: .venv/installed
	MT_FUZZ_EXAMPLES=$(EXAMPLES) $(BIN)/python -m pytest -m slow tests/fuzz

clean:
	rm -rf .venv $(DEMO)
