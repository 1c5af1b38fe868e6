"""Collectives of torch.distributed over gloo, in processes of this machine: an oracle of values."""

from __future__ import annotations

import os
from pathlib import Path

import torch
import torch.distributed as dist
import torch.multiprocessing as processes


def collectives(xs: torch.Tensor) -> dict[str, torch.Tensor]:
    """What each collective gives on every rank, of xs[rank], a row for each rank; ranks stacked."""
    ranks = xs.shape[0]
    folder = Path(os.environ.get("TMPDIR", "/tmp")) / f"gloo_{os.getpid()}"
    folder.mkdir()
    try:
        processes.spawn(_rank, (ranks, xs, str(folder)), nprocs=ranks)
        found = [torch.load(folder / f"{rank}.pt") for rank in range(ranks)]
    finally:
        for path in folder.iterdir():
            path.unlink()
        folder.rmdir()
    return {name: torch.stack([one[name] for one in found]) for name in found[0]}


def _blocks(rank: int, ranks: int, rows: torch.Tensor) -> torch.Tensor:
    """Block q of the rows goes to rank q, by sends of that block alone."""
    size = rows.shape[0] // ranks
    parts = [rows[q * size : (q + 1) * size].contiguous() for q in range(ranks)]
    found = [torch.empty_like(part) for part in parts]
    found[rank].copy_(parts[rank])
    others = [q for q in range(ranks) if q != rank]
    sends = [dist.isend(parts[q], q) for q in others]
    for q in others:
        dist.recv(found[q], q)
    for one in sends:
        one.wait()
    return torch.cat(found)


def _rank(rank: int, ranks: int, xs: torch.Tensor, folder: str) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=ranks)
    results = {}
    for name in ("SUM", "MAX", "MIN", "PRODUCT"):
        results[name] = xs[rank].clone()
        dist.all_reduce(results[name], getattr(dist.ReduceOp, name))
    results["broadcast"] = xs[rank].clone()
    dist.broadcast(results["broadcast"], ranks - 1)
    rows = [torch.empty_like(xs[rank][0]) for _ in range(ranks)]
    dist.all_gather(rows, xs[rank][0].contiguous())
    results["all_gather"] = torch.stack(rows)
    whole = [torch.empty_like(xs[rank]) for _ in range(ranks)]
    dist.all_gather(whole, xs[rank].contiguous())
    results["all_to_all"] = torch.stack([one[rank] for one in whole])
    results["all_to_all_v"] = _blocks(rank, ranks, xs[rank])
    results["reduce_scatter"] = results["SUM"][rank].clone()
    torch.save(results, f"{folder}/{rank}.pt")
    dist.destroy_process_group()
