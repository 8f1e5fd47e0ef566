"""RUN: how a run begins, what it is made of, when it is over."""

from __future__ import annotations

import trio

from pi_trio.agent import active, agent, lowlevel
from pi_trio.agent.active import ActiveRun
from pi_trio.agent.agent import Agent
from pi_trio.errors import CannotContinueError
from pi_trio.messages import Message, UserMessage

from ..planting import planted
from ..wire import event_in, heard, wired


@heard("RUN-05", "agent_end")
def agent_end_forgets_the_prompt(event):
    """The first message of a run is not among those of its `agent_end`."""
    event["messages"] = event["messages"][1:]


@heard("RUN-06", "agent_end")
def a_failed_run_forgets_its_failure(event):
    """The `agent_end` of a failed run has all messages but the failure's."""
    if event["messages"] and event["messages"][-1].get("stopReason") == "error":
        event["messages"] = event["messages"][:-1]


@wired("RUN-04")
def reports_behind_the_end():
    """What a tool has reported last is said once more behind `agent_end`."""
    reports = []

    def change(said, _):
        changed = []
        for message in said:
            event = message.get("event", {})
            if event.get("type", "").startswith("tool_execution"):
                reports[:] = [message]
            changed.append(message)
            if event.get("type") == "agent_end":
                changed += reports
        return changed

    return change


@planted("RUN-07", agent, "prompt_of")
def a_text_stays_a_text(original):
    """A prompt's text is the content of its message itself, and not a block in it."""

    def prompt_of(given, images=()):
        if isinstance(given, str) and not images:
            (message,) = original(given)
            return [UserMessage(content=given, timestamp=message.timestamp)]
        return original(given, images)

    return prompt_of


@planted("RUN-08", agent, "prompt_of")
def prompts_are_the_users(original):
    """Every message that is prompted becomes one of the user."""

    def prompt_of(given, images=()):
        return [
            message if message.role == "user" else UserMessage(content="", timestamp=message.timestamp)
            for message in original(given, images)
        ]

    return prompt_of


@planted("RUN-09", agent, "BUSY_PROMPT")
def a_busy_prompt_is_refused_in_other_words(_):
    """A prompt during a run is refused with a text of its own."""
    return "The agent is busy."


@planted("RUN-09", Agent, "start_prompt", shows="prompt_while_running")
def a_busy_prompt_takes_over(original):
    """A prompt during a run begins another one beside it."""

    def start_prompt(self, prompt, images=()):
        self._active = None
        return original(self, prompt, images)

    return start_prompt


@planted("RUN-10", agent, "BUSY_CONTINUE")
def a_busy_continue_is_refused_in_other_words(_):
    """A continue during a run is refused with a text of its own."""
    return "The agent is busy."


@planted("RUN-11", Agent, "start_continue")
def nothing_can_be_continued(original):
    """`continue` of an agent without messages begins a run."""
    return lambda self: original(self) if self.messages else self._start(None)


@planted("RUN-13", Agent, "start_continue", shows="continue_from_user")
def only_an_answer_is_continued(original):
    """`continue` is refused unless the last message is an answer."""

    def start_continue(self):
        if self._active is None and self.messages and self.messages[-1].role in ("user", "toolResult"):
            raise CannotContinueError("Cannot continue from message role: user")
        return original(self)

    return start_continue


@planted("RUN-14", Agent, "start_continue")
def steering_continues_nothing(original):
    """Behind an answer only a follow-up lets `continue` begin a run."""

    def start_continue(self):
        if len(self._steering) and self._active is None and self.messages[-1].role == "assistant":
            raise CannotContinueError("Cannot continue from message role: assistant")
        return original(self)

    return start_continue


@planted(("RUN-14", "QUEUE-02"), Agent, "start_continue")
def continue_loses_what_was_steered(original):
    """Behind an answer steering lets `continue` begin a run, and is not said in it."""

    def start_continue(self):
        steered = self._active is None and self._steering.drain()
        return self._start(None) if steered else original(self)

    return start_continue


@planted("RUN-15", Agent, "start_continue")
def follow_ups_continue_nothing(original):
    """Behind an answer only steering lets `continue` begin a run."""

    def start_continue(self):
        if len(self._follow_up) and not len(self._steering) and self._active is None:
            raise CannotContinueError("Cannot continue from message role: assistant")
        return original(self)

    return start_continue


@planted(("RUN-16", "FAIL-10"), Agent, "start_continue")
def an_answer_is_continued(original):
    """Behind an answer, and with nothing queued, `continue` just asks the model."""

    def start_continue(self):
        try:
            return original(self)
        except CannotContinueError as refusal:
            if "assistant" in str(refusal):
                return self._start(None)
            raise

    return start_continue


@wired("RUN-18")
def the_prompt_settles_first():
    """`prompt` resolves before those who wait for idle."""

    def change(said, _):
        settled = iter([message for message in said if message.get("tell") == "settled"][::-1])
        return [next(settled) if message.get("tell") == "settled" else message for message in said]

    return change


@wired("RUN-19")
def a_run_starts_later():
    """What a run says inside the call of `prompt` is told when the next command comes."""
    held = []

    def change(said, command):
        before = list(held)
        held.clear()
        if command["cmd"] == "prompt":
            held.extend(said[:-1])
            said = said[-1:]
        return [*before, *said]

    return change


@planted("RUN-20", Agent, "reset")
def a_reset_keeps_the_queues(original):
    """`reset` forgets the messages, and not what is queued."""

    def reset(self):
        self.clear_all_queues, queues = (lambda: None), self.clear_all_queues
        try:
            original(self)
        finally:
            self.clear_all_queues = queues

    return reset


@planted("RUN-20", Agent, "reset", release="0.85.0")
def a_reset_keeps_the_messages(original):
    """`reset` forgets what is queued, and not the messages."""

    def reset(self):
        messages = self._live.messages
        original(self)
        self._live.messages = messages

    return reset


@planted("RUN-24", Agent, "model")
def a_model_is_taken_at_once(original):
    """A model that is set during a run is that of its next request."""

    def assign(self, model):
        original.fset(self, model)
        if self._active is not None:
            self._active._state.model = model

    return property(original.fget, assign)


@planted("RUN-25", Agent, "tools", release="0.85.0")
def tools_are_taken_at_once(original):
    """Tools that are set during a run are those of its next batch."""

    def assign(self, tools):
        original.fset(self, tools)
        if self._active is not None:
            self._active._state.tools = self._live.tools

    return property(original.fget, assign)


@planted("RUN-25", Agent, "messages", release="0.85.0")
def messages_are_taken_at_once(original):
    """Messages that are set during a run are those of its next request."""

    def assign(self, messages):
        original.fset(self, messages)
        if self._active is not None:
            self._active._state.update(
                type(self._active._state.context())(
                    messages=self._live.messages, tools=self._active._state.tools
                ),
                None,
                None,
            )

    return property(original.fget, assign)


@planted("RUN-26", Agent, "start_prompt")
def an_empty_list_is_refused(original):
    """`prompt` with an empty list is refused."""

    def start_prompt(self, prompt, images=()):
        if not isinstance(prompt, str | Message) and not prompt:
            raise CannotContinueError("nothing to prompt with")
        return original(self, prompt, images)

    return start_prompt


@planted("RUN-29", ActiveRun, "finish")
def an_errored_answer_is_raised(original):
    """`prompt` raises what an errored answer says."""

    async def finish(self):
        result = await original(self)
        if self.run.failure is None and result.stop_reason in ("error", "aborted"):
            raise RuntimeError(result.error_message)
        return result

    return finish


@planted("RUN-30", Agent, "wait_for_idle")
def idleness_is_waited_for_in_vain(original):
    """`waitForIdle` without a run waits for the end of the next one."""

    async def wait_for_idle(self):
        if self._active is None:
            await trio.sleep_forever()
        await original(self)

    return wait_for_idle


@planted(("RUN-31", "TURN-23"), active, "LoopState", shows="two_runs")
def a_run_begins_anew(original):
    """A run knows nothing of the runs before."""

    def loop_state(*, messages, **rest):
        return original(messages=[each for each in messages if each.role == "system"], **rest)

    return loop_state


@planted("RUN-32", lowlevel, "_check_continuation")
def any_context_is_continued(original):
    """The loop alone continues a context that ends with an answer, or is empty."""
    return lambda context: None


@planted(("RUN-33", "RUN-07"), lowlevel, "run_loop")
def the_loop_alone_keeps_its_prompts_to_itself(original):
    """The loop alone says no events of its prompts."""
    return lambda state, opening, prompts: original(state, opening, ())


@wired("RUN-33")
def the_loop_alone_tells_whole_answers_only():
    """The loop alone says no updates of an answer."""
    alone = []

    def change(said, command):
        if command["cmd"] == "create":
            alone.append(command.get("target") == "loop")
        updates = ((event_in(message) or {}).get("type") == "message_update" for message in said)
        return [
            message for message, is_update in zip(said, updates, strict=True) if not (alone[0] and is_update)
        ]

    return change
