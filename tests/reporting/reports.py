"""A report on a small model, with texts that a page could trip over."""

from __future__ import annotations

import dataclasses
from functools import cache

from mt.evaluation.metrics import Recipe, measure, metrics_for
from mt.evaluation.results import Sampling, results_of
from mt.evaluation.scores import word_splitter
from mt.events import CorpusRead, OriginRead
from mt.reporting.contents import (
    ModelRecord,
    Report,
    Scored,
    ScoredFile,
    SystemOutput,
    TrivialSystem,
)
from mt.reporting.curves import Curves, Point
from mt.reporting.sentence_attention import attend_to_sentences
from mt.reporting.sentences import groups_of
from mt.translation.scorer import Scorer
from tests.reporting.models import small_model

SOURCES = ["haus <b> שלום", '</script> "x"', "日本 haus", "haus", "it's &amp; haus $a$"]
REFERENCES = [
    "the <b>house</b> is red",
    "שלום עולם טוב",
    "日本の家は赤い",
    "yes",
    "it's ${b} & more",
]
HYPOTHESES = ["the <b>house</b> was red", "עולם שלום", "日本の車は赤い", "yes", "<img src=x>"]
OTHERS = ["the <b>house</b> is red", "שלום עולם טוב", "赤い", "no", "it's ${b} & more"]
CARD = """\
# Translation model <de> → en

What <b>stands</b> here is `shown` as it is.
"""


def curves(num_records: int = 300) -> Curves:
    """A loss that falls, two validations, a rate."""

    def series(values: list[tuple[int, float]]) -> tuple[Point, ...]:
        return tuple(
            Point(update=update, epoch=update / 100, minutes=update / 10, value=value)
            for update, value in values
        )

    updates = [20 * (i + 1) for i in range(num_records)]
    return Curves(
        name="small",
        series={
            "train/loss": series([(update, 2 + 100 / update) for update in updates]),
            "train/learning_rate": series([(update, 1e-3) for update in updates]),
            "dev/loss": series([(1000, 2.5), (2000, 2.25)]),
            "dev/BLEU": series([(1000, 20.0), (2000, 31.5)]),
            "dev/chrF2": series([(1000, 40.0), (2000, 52.25)]),
        },
        signatures={"BLEU": "nrefs:1|case:mixed"},
        best_update=2000,
        resumed_after=(400,),
        num_skipped=0,
        reason="patience <1>",
    )


def corpus() -> CorpusRead:
    one = OriginRead(name="a<b>.tsv", num_read=100, num_held_out=5, dropped={"too_long": 3})
    two = OriginRead(
        name="b", num_read=50, num_held_out=0, dropped={"repeated": 9}, digest="ab12", weight=2
    )
    return CorpusRead(origins=(one, two))


def record(name: str = "small") -> ModelRecord:
    return ModelRecord(
        name=name,
        facts=[("languages", "<de> → en"), ("fine-tuned from", "a|b")],
        commands=["mt train 'a <b>.tsv' -o small", "mt train --resume small"],
        card=CARD,
        curves=curves(),
        corpus=corpus(),
        unknown=(),
    )


@cache
def scored(*, num_systems: int = 1, attended: bool = False, num_examples: int = 3) -> Scored:
    """Systems with intervals, with a test where they are several."""
    metrics = metrics_for([REFERENCES], Recipe())
    outputs = [("out/<first>.en", HYPOTHESES), ("second.en", OTHERS)][:num_systems]
    systems = [
        SystemOutput(
            name=name, digest="BLAKE2b 12ab", hypotheses=texts, measured=measure(texts, metrics)
        )
        for name, texts in outputs
    ]
    sampling = Sampling(
        confidence=True, paired="ar" if num_systems > 1 else None, resamples=100, seed=1
    )
    found = Scored(
        files=[ScoredFile(role="reference", name="test/<ref>.en", digest="BLAKE2b 00ff")],
        is_validation=False,
        systems=systems,
        results=results_of([(each.name, list(each.measured)) for each in systems], sampling),
        references=[REFERENCES],
        sources=SOURCES,
        main_metric=1,
        split=word_splitter("13a"),
        tokenize="13a",
        of_symbols=False,
        lowercase=False,
        trivial=[TrivialSystem(name="copy of the source", scores={"BLEU": 1.25, "chrF2": 7.5})],
        said=["mt: all is well", "mt: warning: 2 of <5> lines"],
        num_examples=num_examples,
        attention={},
    )
    if not attended:
        return found
    loaded = small_model()
    scorer = Scorer(loaded.model, loaded.tokenizers, loaded.config)
    indices = {index for group in groups_of(found) for index in group.indices}
    pairs = {index: (SOURCES[index], HYPOTHESES[index]) for index in indices}
    return dataclasses.replace(found, attention=attend_to_sentences(scorer, pairs))


@cache
def report(*, with_scores: bool = True) -> Report:
    return Report(
        title="Report on <small>",
        models=[record()],
        scored=scored(attended=True) if with_scores else None,
        unscored="" if with_scores else "Nothing was scored: <why>.",
        commands=[("This page", "mt report 'a <b>' test.de test.en")],
    )
