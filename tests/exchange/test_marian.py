"""What is imported from Marian's own files: the same weights by its names give the same logits."""

from __future__ import annotations

import json
import math
import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import yaml
from numpy.typing import NDArray
from torch import Tensor

from mt.model_folder.folder import load_model
from mt.text.tokenizer import END, PAD, START
from tests.cases.runs import run_here
from tests.exchange.marian_models import SMALL, joint_pieces, pieces_of, spm, write_huggingface

Arrays = dict[str, NDArray[Any]]
WIDTH = 16


@pytest.fixture(autouse=True, scope="module")
def _needs_transformers() -> None:
    pytest.importorskip("transformers")


def in_marians_names(model: Any, *, separate: bool) -> Arrays:
    """The weights of a MarianMTModel as Marian has them, but for the padding."""
    pad = model.config.pad_token_id
    state = {name: each.numpy().copy() for name, each in model.state_dict().items()}
    bias = state["final_logits_bias"]
    arrays: Arrays = {"decoder_ff_logit_out_b": np.delete(bias, pad, axis=1)}
    if separate:
        for side in ("encoder", "decoder"):
            matrix = state[f"model.{side}.embed_tokens.weight"]
            arrays[f"{side}_Wemb"] = np.delete(matrix, pad, axis=0)
    else:
        arrays["Wemb"] = np.delete(state["model.shared.weight"], pad, axis=0)
    for stack, its in (("encoder", model.model.encoder), ("decoder", model.model.decoder)):
        for number, layer in enumerate(its.layers, start=1):
            parts = [("self", layer.self_attn, layer.self_attn_layer_norm)]
            if stack == "decoder":
                parts.append(("context", layer.encoder_attn, layer.encoder_attn_layer_norm))
            place = f"{stack}_l{number}"
            for name, attention, norm in parts:
                for letter, linear in zip(
                    "qkvo",
                    (attention.q_proj, attention.k_proj, attention.v_proj, attention.out_proj),
                    strict=True,
                ):
                    arrays[f"{place}_{name}_W{letter}"] = linear.weight.detach().numpy().T
                    arrays[f"{place}_{name}_b{letter}"] = linear.bias.detach().numpy()[None]
                put_norm(arrays, f"{place}_{name}_Wo", norm)
            for digit, linear in (("1", layer.fc1), ("2", layer.fc2)):
                arrays[f"{place}_ffn_W{digit}"] = linear.weight.detach().numpy().T
                arrays[f"{place}_ffn_b{digit}"] = linear.bias.detach().numpy()[None]
            put_norm(arrays, f"{place}_ffn_ffn", layer.final_layer_norm)
    return arrays


def put_norm(arrays: Arrays, place: str, norm: torch.nn.LayerNorm) -> None:
    arrays[f"{place}_ln_scale"] = norm.weight.detach().numpy()[None]
    arrays[f"{place}_ln_bias"] = norm.bias.detach().numpy()[None]


def settings_of(sizes: list[int], *, separate: bool, **changes: object) -> dict[str, object]:
    return {
        "type": "transformer",
        "version": "v1.12.42 2024-01-01",
        "dim-vocabs": sizes,
        "dim-emb": WIDTH,
        "enc-depth": SMALL["encoder_layers"],
        "dec-depth": SMALL["decoder_layers"],
        "transformer-heads": SMALL["encoder_attention_heads"],
        "transformer-dim-ffn": SMALL["encoder_ffn_dim"],
        "transformer-decoder-dim-ffn": 0,
        "transformer-ffn-depth": 2,
        "transformer-ffn-activation": "swish",
        "transformer-preprocess": "",
        "transformer-postprocess": "dan",
        "transformer-postprocess-emb": "d",
        "transformer-postprocess-top": "",
        "transformer-decoder-autoreg": "self-attention",
        "tied-embeddings-all": not separate,
        "tied-embeddings": separate,
        "enc-cell": "gru",
        "transformer-guided-alignment-layer": "last",
        "lemma-dim-emb": 0,
        "separator-symbol": "[eos]",
        "transformer-attention-mask": "default",
        "lemma-dependency": "",
        "ulr": False,
        **changes,
    }


def save(path: Path, arrays: Arrays) -> None:
    save_arrays: Any = np.savez  # its own flags are typed, too
    save_arrays(path, **arrays)


def write_marian(folder: Path, *, separate: bool = False, **changes: Any) -> Any:
    """An .npz file and its vocabularies; gives a MarianMTModel that computes as Marian does."""
    model = write_huggingface(folder / "hf", joint=not separate)
    sides = ("source", "target")
    pieces = [pieces_of(side) for side in sides] if separate else [joint_pieces()] * 2
    settings = settings_of([len(each) for each in pieces], separate=separate, **changes)
    text = yaml.safe_dump(settings).encode() + bytes(5)
    arrays = in_marians_names(model, separate=separate)
    arrays["special:model.yml"] = np.frombuffer(text, dtype=np.int8)
    save(folder / "model.npz", arrays)
    for side, each in zip(sides, pieces, strict=True):
        (folder / f"{side}.spm").write_bytes(spm(side))
        if not separate:
            table = "".join(f"{json.dumps(p)}: {i}\n" for i, p in enumerate(each))
            (folder / "vocab.yml").write_text(table, "utf-8")
    names = [f"{side}.spm" for side in sides] if separate else ["vocab.yml", "vocab.yml"]
    (folder / "model.npz.decoder.yml").write_text(yaml.safe_dump({"vocabs": names}), "utf-8")
    as_in_marian(model)
    return model


def as_in_marian(model: Any) -> None:
    """Give a MarianMTModel the positions and the norms of Marian itself."""
    half = WIDTH // 2
    table = torch.tensor(
        [
            [f(p * 10000 ** (-i / (half - 1))) for f in (math.sin, math.cos) for i in range(half)]
            for p in range(SMALL["max_position_embeddings"])
        ]
    )
    with torch.no_grad():
        for stack in (model.model.encoder, model.model.decoder):
            stack.embed_positions.weight.copy_(table)
    for module in model.modules():
        if isinstance(module, torch.nn.LayerNorm):
            module.eps = 1e-6


@pytest.mark.parametrize("separate", [False, True])
def test_logits_of_fifty_pairs_are_those_of_the_same_weights(
    separate: bool, tmp_path: Path
) -> None:
    other = write_marian(tmp_path, separate=separate)
    run = run_here("import", tmp_path / "model.npz", "-o", tmp_path / "m").check()
    assert "compared with nothing" in run.err
    loaded = load_model(tmp_path / "m")
    assert loaded.config.model.zero_start
    pad = other.config.pad_token_id
    draw = random.Random(3)

    def there(ids: list[int]) -> list[int]:
        """Ids of Marian, whose pieces stand at 4 and on, as those of the other model."""
        return [i - 2 if i - 2 < pad else i - 1 for i in ids]

    for _ in range(50):
        source, target = (
            [draw.randrange(4, size.vocab_size) for _ in range(draw.randint(0, 30))]
            for size in (loaded.tokenizers.source, loaded.tokenizers.target)
        )
        with torch.no_grad():
            expected: Tensor = other(
                input_ids=torch.tensor([[*there(source), 0]]),
                decoder_input_ids=torch.tensor([[pad, *there(target)]]),
            ).logits[0]
            ids = torch.tensor([[*source, END]])
            hidden = loaded.model(ids, torch.ones_like(ids) > 0, torch.tensor([[START, *target]]))
            found = loaded.model.project(hidden[0])
        columns = [0, 1, *there(list(range(4, found.size(1))))]
        torch.testing.assert_close(found[:, END:], expected[:, columns], rtol=1e-5, atol=1e-5)
        probabilities = found.softmax(dim=1)
        assert probabilities[:, [PAD, START]].max() < 1e-30


def test_the_vocabulary_may_be_given_and_yaml_changes_no_piece(tmp_path: Path) -> None:
    write_marian(tmp_path)
    (tmp_path / "model.npz.decoder.yml").unlink()
    lines = (tmp_path / "vocab.yml").read_text("utf-8").splitlines()
    lines = ["no: 5" if line.endswith(": 5") else line for line in lines]
    (tmp_path / "table.yml").write_text("\n".join(lines), "utf-8")
    options = ("--vocab", tmp_path / "table.yml", "--langs", "de-en")
    run_here("import", tmp_path, "-o", tmp_path / "m", *options).check()
    loaded = load_model(tmp_path / "m")
    assert loaded.tokenizers.source.pieces([5 + 2]) == ["no"]
    assert loaded.config.source_language == "de"
    run_here("translate", "-m", tmp_path / "m", stdin=b"\n").check()


def test_norms_before_sublayers_and_at_the_end_of_stacks_are_known(tmp_path: Path) -> None:
    order: dict[str, Any] = {
        "transformer-preprocess": "n",
        "transformer-postprocess": "da",
        "transformer-postprocess-top": "n",
    }
    write_marian(tmp_path, **order)
    arrays = dict(np.load(tmp_path / "model.npz"))
    arrays = {
        name.replace("_ln_scale", "_ln_scale_pre").replace("_ln_bias", "_ln_bias_pre"): array
        for name, array in arrays.items()
    }
    for stack in ("encoder", "decoder"):
        arrays[f"{stack}_top_ln_scale"] = np.full((1, WIDTH), 2.0, dtype=np.float32)
        arrays[f"{stack}_top_ln_bias"] = np.zeros((1, WIDTH), dtype=np.float32)
    save(tmp_path / "model.npz", arrays)
    run_here("import", tmp_path, "-o", tmp_path / "m").check()
    loaded = load_model(tmp_path / "m")
    assert loaded.config.model.norm == "pre"
    assert torch.equal(loaded.model.state_dict()["decoder_norm.weight"], torch.full((WIDTH,), 2.0))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"transformer-decoder-autoreg": "rnn", "dec-cell": "ssru"}, "autoreg = 'rnn', for which"),
        ({"right-left": True}, "an option that mt does not know: right-left = True"),
        ({"transformer-attention-mask": "tree"}, "attention-mask = 'tree', for which mt has no"),
        ({"lemma-dim-emb": 64}, "does not know: lemma-dim-emb = 64"),
        ({"input-types": ["sequence", "class"]}, "does not know: input-types"),
        ({"type": "s2s"}, "type = 's2s', for which mt has no form"),
        ({"transformer-ffn-activation": "elu"}, "transformer-ffn-activation = 'elu', for which"),
        ({"transformer-alibi-decoder": True}, "does not know: transformer-alibi-decoder = True"),
        ({"transformer-train-position-embeddings": True}, "transformer-train-position-embeddings"),
        ({"transformer-tied-layers": [1, 1]}, "does not know: transformer-tied-layers = [1, 1]"),
        ({"transformer-no-projection": True}, "does not know: transformer-no-projection"),
        ({"transformer-postprocess": "dhn"}, "adds and normalises in an order that mt has no"),
        ({"transformer-postprocess-emb": "dn"}, "adds and normalises in an order"),
        ({"version": "v2.0.1"}, "written by Marian v2.0.1; this mt knows"),
        ({"dim-vocabs": [70, 70]}, "vocab.yml has 52 pieces, but"),
        ({"transformer-dim-ffn": 25}, "fc1.weight has shape (24, 16), but"),
        ({"enc-depth": 3}, "lacks the tensor model.encoder.layers.2"),
        ({"enc-depth": 1}, "has a stray tensor model.encoder.layers.1"),
    ],
)
def test_a_form_that_is_not_understood_is_refused(
    change: dict[str, Any], message: str, tmp_path: Path
) -> None:
    write_marian(tmp_path, **change)
    found = run_here("import", tmp_path / "model.npz", "-o", tmp_path / "m").check_refusal()
    assert message in found
    assert not (tmp_path / "m").exists()


def test_files_that_are_missing_or_damaged_are_named(tmp_path: Path) -> None:
    write_marian(tmp_path)

    def refusal(*options: str | Path) -> str:
        return run_here(
            "import", tmp_path / "model.npz", "-o", tmp_path / "m", *options
        ).check_refusal()

    assert "none.spm cannot be read" in refusal("--vocab", tmp_path / "none.spm")
    (tmp_path / "source.spm").rename(tmp_path / "away.spm")
    assert "source.spm cannot be read" in refusal()
    (tmp_path / "away.spm").rename(tmp_path / "source.spm")
    (tmp_path / "model.npz.decoder.yml").unlink()
    assert "has no vocabulary" in refusal()
    whole = (tmp_path / "model.npz").read_bytes()
    (tmp_path / "model.npz").write_bytes(whole[: len(whole) // 2])
    assert "model.npz is not an .npz file, or is damaged" in refusal()
    np.savez(tmp_path / "model.npz", x=np.zeros(2))
    assert "has no special:model.yml: it is no model of Marian" in refusal()
    np.savez(tmp_path / "model.npz", x=np.array([{1: 2}], dtype=object))
    assert "model.npz is not an .npz file, or is damaged" in refusal()
    assert not (tmp_path / "m").exists()
