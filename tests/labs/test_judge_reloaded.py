"""What the check of judge_reloaded says of models that are built too often, too early, or for somebody else."""

from cookbook.labs.judge_reloaded import COMPANY, OPTIMIZER, QUESTIONS, ask, broken, check, solution
from cookbook.published import nli_loop

BROKEN = "loaded_every_time"


def checked(model, state):
    return {"supported": model.entails("\n".join(hit.text for hit in state["kept"]), state["draft"])}


def when_the_graph_is_built(judges):
    model = judges.load_nli()
    return nli_loop.build(judges, check_support=lambda state, judges: checked(model, state))


def once_for_each_question(judges):
    models = {}

    def check_support(state, judges):
        if not state["kept"]:
            return {"supported": False}
        question = state["question"]
        models[question] = models.get(question) or judges.load_nli()
        return checked(models[question], state)

    return nli_loop.build(judges, check_support=check_support)


def only_when_something_is_kept(judges):
    def check_support(state, judges):
        return checked(judges.load_nli(), state) if state["kept"] else {"supported": False}

    return nli_loop.build(judges, check_support=check_support)


def lazily_for_everybody(judges):
    models = []

    def check_support(state, judges):
        if not models:
            models.append(judges.load_nli())
        return checked(models[0], state)

    return nli_loop.build(judges, check_support=check_support)


class Module:
    model = None


def in_the_module(judges):
    def check_support(state, judges):
        if not state["kept"]:
            return {"supported": False}
        Module.model = Module.model or judges.load_nli()
        return checked(Module.model, state)

    return nli_loop.build(judges, check_support=check_support)


def keep_the_verdict(judges):
    verdicts = []

    def check_support(state, judges):
        if not state["kept"]:
            return {"supported": False}
        if not verdicts:
            verdicts.append(checked(judges.load_nli(), state))
        return verdicts[0]

    return nli_loop.build(judges, check_support=check_support)


def no_check(judges):
    return nli_loop.build(judges, check_support=lambda state, judges: {"supported": bool(state["kept"])})


def nothing_to_object_to(judges):
    models = []

    def check_support(state, judges):
        if not state["kept"]:
            return {"supported": True}
        if not models:
            models.append(judges.load_nli())
        return checked(models[0], state)

    return nli_loop.build(judges, check_support=check_support)


WRONG = {
    "when the graph is built": (when_the_graph_is_built, "loaded_at_build"),
    "one for each question": (once_for_each_question, "loaded_again"),
    "one for all, needed or not": (lazily_for_everybody, "loaded_for_nothing"),
    "one in the module": (in_the_module, "borrowed_judge"),
    "keep the verdict": (keep_the_verdict, "verdict_kept"),
    "leave the model out": (no_check, "not_checked"),
    "nothing to check is supported": (nothing_to_object_to, "nothing_supported"),
}


def test_the_symptom():
    series = ask(broken())
    assert series.loads == [1, 1, 1, 2, 2]
    assert [len(done.state["kept"]) for done in series.runs] == [1, 1, 1, 0, 0]


def test_one_load_for_all():
    series = ask(solution())
    assert (series.loads, series.built_before, len(series.models)) == ([1, 0, 0, 0, 0], 0, 1)
    assert ask(solution(), (COMPANY,)).judges.loads == 0
    assert [done.calls for done in series.runs] == [done.calls for done in ask(broken()).runs]


def test_the_message_counts():
    assert check(broken()).message.startswith(
        "5 questions, 7 support checks, 7 loads (28 s): one for each check, 4 of them for questions without"
    )


def test_half_a_mend_is_still_one_for_each_question():
    assert check(only_when_something_is_kept).diagnosis == "loaded_again"


def test_the_questions_are_those_of_the_set():
    from cookbook.eval import load_eval_set

    behaviour = {row.question: row.behaviour for row in load_eval_set("attention_digest")}
    assert [behaviour[question] for question in QUESTIONS] == ["answer"] * 3 + ["refuse"] * 2
    assert QUESTIONS[0] == OPTIMIZER
