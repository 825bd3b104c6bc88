"""Random models of Hugging Face's MarianMTModel, and the files around them."""

from __future__ import annotations

import io
import json
import random
import warnings
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import sentencepiece
import torch

WORDS = {
    "source": ["haus", "katze", "läuft", "grün", "und", "Straße", "nicht", "über", "Größe"],
    "target": ["house", "cat", "runs", "green", "and", "street", "not", "above", "below", "size"],
}
CODES = (">>deu<<", ">>nld<<")
SMALL: dict[str, Any] = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 24,
    "decoder_ffn_dim": 24,
    "activation_function": "swish",
    "max_position_embeddings": 128,
    "scale_embedding": True,
}


@cache
def lines(side: str, seed: int = 3, count: int = 60) -> tuple[str, ...]:
    draw = random.Random(seed)
    return tuple(
        " ".join(draw.choices(WORDS[side], k=draw.randint(1, 9))) + draw.choice([".", "!", ""])
        for _ in range(count)
    )


@cache
def spm(side: str, size: int = 60) -> bytes:
    """A sentencepiece model as Marian has them: end 0, unknown 1, no start and no padding."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.Train(
        sentence_iterator=iter(lines(side)),
        model_writer=model,
        vocab_size=size,
        hard_vocab_limit=False,
        eos_id=0,
        unk_id=1,
        bos_id=-1,
        pad_id=-1,
        minloglevel=3,
    )
    return model.getvalue()


def processor(side: str) -> Any:
    found = sentencepiece.SentencePieceProcessor()
    found.LoadFromSerializedProto(spm(side))
    return found


def pieces_of(side: str) -> list[str]:
    found = processor(side)
    return [found.IdToPiece(i) for i in range(found.GetPieceSize())]


def joint_pieces() -> list[str]:
    """End and unknown, the pieces of both sides in an order of their own, and two languages."""
    both = dict.fromkeys((*pieces_of("target")[2:], *pieces_of("source")[2:], *CODES))
    return ["</s>", "<unk>", *both]


def tables(*, joint: bool) -> tuple[list[str], list[str]]:
    """The pieces of source and target by their ids; the padding has one id in both."""
    source, target = pieces_of("source"), pieces_of("target")
    if joint:
        source = target = joint_pieces()
    pad = min(len(source), len(target))
    made = [[*pieces[:pad], "<pad>", *pieces[pad:]] for pieces in (source, target)]
    return made[0], made[1]


def ids_of(table: list[str]) -> dict[str, int]:
    return {piece: i for i, piece in enumerate(table)}


def write_huggingface(
    folder: Path, *, joint: bool = True, seed: int = 0, peaked: float = 1.0, **changes: Any
) -> Any:
    """A folder with a random model; gives the model. `peaked` makes its logits larger."""
    transformers = pytest.importorskip("transformers")
    source, target = (ids_of(table) for table in tables(joint=joint))
    config = transformers.MarianConfig(
        **{
            **SMALL,
            "vocab_size": len(source),
            "decoder_vocab_size": len(target),
            "share_encoder_decoder_embeddings": joint,
            "pad_token_id": source["<pad>"],
            "decoder_start_token_id": source["<pad>"],
            "eos_token_id": 0,
            "forced_eos_token_id": None,
            **changes,
        }
    )
    torch.manual_seed(seed)
    model = transformers.MarianMTModel(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if "embed_positions" in name:
                continue
            spread = 0.3 if parameter.dim() == 2 else 0.1
            parameter.add_(torch.randn_like(parameter), alpha=spread)
        for embedding in (model.get_input_embeddings(), model.get_decoder().embed_tokens):
            embedding.weight[config.pad_token_id] = 0.0
        model.lm_head.weight.mul_(peaked)
        model.final_logits_bias.copy_(torch.randn(model.final_logits_bias.shape))
        model.final_logits_bias[0, 0] += 1.5 * peaked
    model.generation_config.bad_words_ids = [[config.pad_token_id]]
    model.generation_config.num_beams = 4
    model.save_pretrained(folder)
    (folder / "source.spm").write_bytes(spm("source"))
    (folder / "target.spm").write_bytes(spm("target"))
    (folder / "vocab.json").write_text(json.dumps(source, ensure_ascii=False), "utf-8")
    if not joint:
        (folder / "target_vocab.json").write_text(json.dumps(target, ensure_ascii=False), "utf-8")
    settings = {"source_lang": "de", "target_lang": "en", "separate_vocabs": not joint}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings), "utf-8")
    return model


def toy_pair(draw: random.Random) -> tuple[str, str]:
    """A sentence, and its words in the other language."""
    chosen = [draw.randrange(len(WORDS["source"])) for _ in range(draw.randint(1, 5))]
    mark = draw.choice([".", "!", ""])
    source, target = (" ".join(WORDS[side][i] for i in chosen) + mark for side in WORDS)
    return source, target


def train_huggingface(folder: Path, *, updates: int) -> Any:
    """A model that has learnt to translate word by word, by transformers; gives it."""
    transformers = pytest.importorskip("transformers")
    changes: dict[str, Any] = {
        "d_model": 32,
        "encoder_ffn_dim": 64,
        "decoder_ffn_dim": 64,
        "dropout": 0.0,
    }
    model = write_huggingface(folder, encoder_layers=1, decoder_layers=1, **changes)
    tokenizer = tokenizer_of(folder)
    for name, parameter in model.named_parameters():
        if parameter.dim() == 2 and "embed_positions" not in name:
            torch.nn.init.xavier_uniform_(parameter)
    model.final_logits_bias.zero_()
    trained = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimizer = torch.optim.Adam(trained, lr=3e-3, betas=(0.9, 0.98))
    draw = random.Random(0)
    model.train()
    for _ in range(updates):
        sources, targets = zip(*(toy_pair(draw) for _ in range(32)), strict=True)
        batch = tokenizer(
            list(sources), text_target=list(targets), return_tensors="pt", padding=True
        )
        labels = batch["labels"]
        batch["labels"] = labels.masked_fill(labels == tokenizer.pad_token_id, -100)
        loss = model(**batch).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    model.eval().save_pretrained(folder)
    assert isinstance(model, transformers.MarianMTModel)
    return model


def tokenizer_of(folder: Path) -> Any:
    transformers = pytest.importorskip("transformers")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # that sacremoses is not there
        return transformers.MarianTokenizer.from_pretrained(folder)
