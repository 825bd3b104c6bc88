"""Into which language a model translates: its only one, or the one of several that is asked for."""

from __future__ import annotations

import dataclasses

from mt.config import Config
from mt.directions import Direction, known_code
from mt.errors import ConfigError
from mt.languages import is_same_language
from mt.text.tokenizer_pair import TokenizerPair


def aimed(
    config: Config, tokenizers: TokenizerPair, to: str = "", *, source: str = ""
) -> tuple[Config, TokenizerPair]:
    """Settings and tokenizers of a model for translating into the language `to`.

    Without `to` it is the only one; models of other programs take lines that name it themselves,
    and what is aimed already stays so. `source` is what the lines are in, where that is known.

    Raises ConfigError, naming those that are known, for another language, and where there are
    several and none is asked for.
    """
    targets = tokenizers.source.targets
    if not targets:
        _require_target(config, to)
        return config, tokenizers
    if not to:
        if tokenizers.source.is_aimed or not config.directions:
            return config, tokenizers
        if len(targets) > 1:
            raise ConfigError(
                f"the model translates into {_listed(targets)}, and it is not said which",
                hint=f"Say it: --to {targets[0]}",
            )
        to = targets[0]
    target = known_code(to, targets)
    if target is None:
        raise ConfigError(
            f"the model does not translate into {to}", hint=f"It knows {_listed(targets)}"
        )
    sources = [each.source for each in directions_of(config) if each.target == target]
    source = known_code(source, all_languages(config)) or "" if source else ""
    if not source and len(sources) == 1:
        (source,) = sources
    if not config.directions:  # of another program, which tells of its source only
        source = config.source_language
    config = dataclasses.replace(config, source_language=source, target_language=target)
    return config, tokenizers.towards(target)


def unseen_combination(config: Config) -> str:
    """What is to be said of a direction that an aimed model was not trained in; else nothing."""
    asked = Direction(config.source_language, config.target_language)
    trained = directions_of(config)
    if not all(asked) or not trained or asked in trained:
        return ""
    return (
        f"the model was not trained on {asked}, but on {', '.join(map(str, trained))}: what it "
        "makes of other combinations is often poor"
    )


def directions_of(config: Config) -> tuple[Direction, ...]:
    """The directions that a model of several languages was trained in."""
    return tuple(map(Direction.parse, config.directions))


def all_languages(config: Config) -> tuple[str, ...]:
    """The languages of all directions, each once."""
    return tuple(dict.fromkeys(code for each in directions_of(config) for code in each))


def _require_target(config: Config, to: str) -> None:
    """Raise ConfigError where a model of one target language is asked for another."""
    known = config.target_language
    if to and not (known and is_same_language(to, known)):
        raise ConfigError(
            f"the model does not translate into {to}",
            hint=f"It translates into {known}" if known else "It does not say into which",
        )


def _listed(languages: tuple[str, ...]) -> str:
    return ", ".join(languages)
