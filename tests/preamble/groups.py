"""Groups made of functions of a test, or of the text of a script."""

from preamble.rendered import Script

TOPICS = ("lanes", "spmd", "tile_split", "cross_core", "mixed_kernel")


def run_group(script, aic, aiv, *args, aiv_args=None, **meta):
    """Run functions as the group "g", with split 1 unless `meta` says otherwise."""
    script["aic"], script["aiv"] = aic, aiv
    members = {"aic": aic and "aic", "aiv": aiv and "aiv"}
    meta = {**members, "split": 1, "dual_aiv_dispatch": False, **meta}
    return script["_run_mixed_kernels"]("g", meta, *args, aiv_args=aiv_args)


def scripted(body):
    """A script with a group "g" of the functions g_aic and g_aiv in `body`, split 1."""
    script = Script(TOPICS, body)
    script["_GROUP_META"].update(
        {"g": {"aic": "g_aic", "aiv": "g_aiv", "split": 1, "dual_aiv_dispatch": False}}
    )
    return script
