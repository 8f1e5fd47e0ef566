"""MODEL, in the adapters: what is asked, how often, and what is told of it."""

from __future__ import annotations

import attrs

from pi_trio.messages import AssistantMessage, SystemMessage, TextContent, ToolResultMessage
from pi_trio.models import exchange, http, limits, sse_exchange, transform
from pi_trio.models.anthropic import adapter as anthropic_adapter
from pi_trio.models.anthropic import body as anthropic_body
from pi_trio.models.anthropic import request as anthropic_request
from pi_trio.models.exchange import Exchange
from pi_trio.models.openai_chat import body as chat_body
from pi_trio.models.tries import Retries

from ..dialects import in_dialects
from ..transported import transported


@transported("MODEL-24", Exchange, "_fail")
def failures_are_raised(original):
    """A failure is raised where the events are read."""

    async def fail(self, failure):
        raise failure

    return fail


@transported(("MODEL-24", "MODEL-01"), Exchange, "_fail")
def a_start_in_front_of_every_failure(original):
    """A response that fails before it has begun has a start all the same."""

    async def fail(self, failure):
        if self._answer is None:
            self._ready.extend(self._reader.start())
        await original(self, failure)

    return fail


@transported("MODEL-25", anthropic_request, "status_text")
def refusals_without_a_status(original):
    """A refusal is told in the words of the server alone."""
    return lambda refusal: original(refusal).partition(" ")[2]


@transported("MODEL-26", sse_exchange, "Retries")
def two_more_tries(original):
    """If nobody says how often, a request is made two more times."""
    return lambda **options: original(**{**options, "count": options["count"] or 2})


@transported("MODEL-27", Retries, "may_help")
def a_busy_server_is_a_failure(original):
    """A server that is busy is not asked again."""
    return lambda self, failure: False


@transported("MODEL-27", Retries, "may_help")
def every_refusal_is_tried_again(original):
    """Whatever was refused is asked for again."""
    return lambda self, failure: True


@transported("MODEL-28", Retries, "may_help")
def the_status_decides(original):
    """The status alone decides whether a request is made again."""
    return lambda self, failure: original(
        self, attrs.evolve(failure, headers={}) if isinstance(failure, http.StatusError) else failure
    )


@transported("MODEL-29", Retries, "pause")
def no_pause_is_too_long(original):
    """A server that asks for too long a pause gets as much as there may be."""

    def pause(self, failure, tries):
        try:
            return original(self, failure, tries)
        except http.RetryTooLateError as late:
            return late.limit

    return pause


@transported("MODEL-30", Exchange, "_fail")
def what_has_begun_is_tried_again(original):
    """A response that fails is asked for again, as long as there are tries left."""

    async def fail(self, failure):
        tries = getattr(self, "_tries", self._options.max_retries or 0)
        if self._answer is None or tries == 0:
            await original(self, failure)
            return
        self._tries = tries - 1
        await self._stack.aclose()
        self._answer = await self._stack.enter_async_context(self._opening())
        self._failure = None

    return fail


@transported("MODEL-31", Exchange, "_fail")
def failures_show_the_key(original):
    """The text of a failure has the key with which was asked."""

    async def fail(self, failure):
        text = f"{self._wording.of(failure)} (key {self._options.api_key})"
        await original(self, exchange.ResponseFailedError(text))

    return fail


@transported("MODEL-34", anthropic_adapter, "final_payload")
def the_body_is_shown_to_nobody(original):
    """Nobody is shown what is sent."""

    async def final_payload(body, **options):
        return body

    return final_payload


@transported("MODEL-35", chat_body, "tool_items")
def tools_are_not_declared(original):
    """A request of Chat Completions has no tools."""
    return lambda tools, compat, dialect: []


@transported("MODEL-35", anthropic_body._Builder, "_system")
def nobody_prompts(original):
    """A request of Messages has no prompt."""
    return lambda self, prompt: []


@transported("MODEL-36", transform, "_answered")
def calls_without_results_stay_open(original):
    """A call that nobody has answered is sent as it is."""

    def is_made_up(message):
        return isinstance(message, ToolResultMessage) and message.content == (
            TextContent(text=transform.NO_RESULT_PROVIDED),
        )

    return lambda messages: [message for message in original(messages) if not is_made_up(message)]


@transported("MODEL-37", transform, "_answered")
def failed_answers_are_sent(original):
    """What has failed is sent like everything else."""

    def good(message):
        return attrs.evolve(message, stop_reason="stop") if isinstance(message, AssistantMessage) else message

    return lambda messages: original(map(good, messages))


@transported("MODEL-38", transform, "_own_thinking")
def own_thinking_becomes_a_text(original):
    """Thinking of the same model is sent as a text."""
    return lambda block: TextContent(text=block.thinking)


in_dialects("MODEL-39", "foreign thinking is not sent", "1.0.3", foreign_thinking="dropped")
in_dialects("MODEL-40", "foreign thinking is a text", foreign_thinking="text")


@transported("MODEL-39", transform, "_foreign_thinking", release="1.0.3")
def foreign_thinking_stays_thinking(original):
    """Thinking of another model is sent as if it were one's own."""
    return lambda block, dialect: block


@transported("MODEL-41", transform, "images_replaced")
def a_text_for_each_image(original):
    """Each image is replaced by a text of its own."""
    return lambda content, placeholder: tuple(
        block if block.type != "image" else TextContent(text=placeholder) for block in content
    )


@transported("MODEL-41", transform, "_without_images")
def images_for_all(original):
    """An image is sent to a model that cannot see."""
    return lambda message: message


@transported("MODEL-42", transform, "_paired")
def half_characters_become_marks(original):
    """A half of a character is sent as the mark for what is none."""
    return lambda found: original(found) or "\ufffd"


@transported("MODEL-43", transform, "_answered", release="1.0.3")
def system_messages_between_calls_and_results(original):
    """A system message stays between a call and its result."""

    def answered(messages):
        placed = original(messages)
        for place in range(1, len(placed)):
            if isinstance(placed[place], SystemMessage) and isinstance(placed[place - 1], ToolResultMessage):
                placed[place - 1], placed[place] = placed[place], placed[place - 1]
        return placed

    return answered


@transported("MODEL-46", limits, "clamp_max_tokens")
def limits_that_do_not_fit(original):
    """A simple request asks for what the model can say, whether there is room for it or not."""
    return lambda model, context, max_tokens, dialect: max_tokens
