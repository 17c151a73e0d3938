"""Invariants of limits: no more is accepted than the plan allows, and the shown usage is the real one."""

from bisect import bisect_right
from collections import defaultdict
from datetime import datetime, timezone

from judge.bounds import EXECUTED_WITHIN_S, PLAN_CHANGED_WITHIN_S
from judge.facts import group

# The plan of a new key.
EXPLORER = {"minute": 20, "day": 1000, "month": 1000, "second": 10}
# Requests of one window have the same time in this format.
WINDOWS = {"minute": "%F %H:%M", "day": "%F", "month": "%Y-%m"}


def limits_are_exact(facts, verdict):
    """All nodes together accept no more requests in a minute or day, and no more messages in a month, than allowed.

    Messages of a second are limited too, with a burst of one second.
    """
    plans = plans_by_key(facts)
    for key, calls in counted_by_key(facts).items():
        for window in WINDOWS:
            counted = [call for call in calls if counts_in(call, window) and window_of(facts, call, window)]
            for inside in group(counted, lambda call: window_of(facts, call, window)).values():
                lost = sum(facts.is_lost_count(call) and not is_stored(call) for call in inside)
                ends = sorted(call.ended for call in inside)
                for call in inside:
                    limit = highest(plans, key, window, call.began, call.ended)
                    count = bisect_right(ends, call.began) + 1 - lost
                    verdict.check(count <= limit, f"{key}: {count} in a {window} of {limit}", call)
        _check_second(verdict, plans, key, [call for call in calls if is_stored(call)])


def _check_second(verdict, plans, key, sends):
    for call in sends:
        # All sends that began and ended within the next 1.5 seconds, and a burst of one second.
        last = call.began + 1.5
        inside = [other for other in sends if call.began <= other.began and other.ended <= last]
        limit = highest(plans, key, "second", call.began, last)
        verdict.check(len(inside) <= limit * 2.5 + 1,
                      f"{key}: {len(inside)} messages in 1.5 s, at {limit} a second", *inside[-1:])


def usage_equals_the_admitted_requests(facts, verdict):
    """The usage that `status` shows is the number of requests and messages that the service accepted.

    Requests without a response, and requests that overlap, may or may not be in the number.
    """
    counted, possible = counted_by_key(facts), possible_by_key(facts)
    for call in facts.by_name["status"]:
        if call.outcome != "ok" or call.probe:
            continue
        for window in WINDOWS:
            current = window_of(facts, call, window)
            if current is None:
                # The window changed during the call.
                continue
            sure = [it for it in counted[call.key] if it.ended <= call.began and counts_in(it, window) and
                    window_of(facts, it, window) == current and not facts.is_lost_count(it)]
            maybe = [it for it in possible[call.key] if it.began < call.ended and may_count_in(it, window) and
                     window_of(facts, it, window) in (current, None)]
            # The request itself counts as a request.
            least = len(sure) + (window != "month")
            used = call.answer["usage"][window]["used"]
            verdict.check(least <= used <= len(maybe), f"{window}: {used} used, {least} to {len(maybe)} sent", call)


def counts_in(call, window):
    """Returns whether an admitted request counts in a window: months count messages only."""
    return window != "month" or is_stored(call)


def may_count_in(call, window):
    """Returns whether a request may count in a window."""
    return counts_in(call, window) or call.name == "send" and call.outcome == "unknown"


def counted_by_key(facts):
    """Returns the requests of each key that count for certain: the rate check has accepted them."""
    return by_key([call for call in facts.calls if is_admitted(call)])


def is_admitted(call):
    """Returns whether the rate check has accepted a request. Every response after this check has the header."""
    return "ratelimit" in call.headers and call.status != 429


def possible_by_key(facts):
    """Returns the requests of each key that may count."""
    def may_count(call):
        return is_admitted(call) or call.outcome == "unknown" or call.status == 503
    return by_key([call for call in facts.calls if may_count(call)])


def by_key(calls):
    """Groups calls by key, without the commands of operators."""
    groups = defaultdict(list)
    for call in calls:
        groups[call.key].append(call)
    return groups


def is_stored(call):
    """Returns whether a call stored an envelope for certain."""
    return call.name == "send" and call.outcome == "ok" and "idempotency-replayed" not in call.headers


def plans_by_key(facts):
    """Returns the changes of each key's plan, in their order."""
    plans = defaultdict(list)
    for call in facts.by_name["plan"]:
        if call.outcome != "refused":
            plans[call.key].append(call)
    return plans


def highest(plans, key, window, began, ended):
    """Returns the highest limit of a key that may hold at some time in a span."""
    limits, current = [], EXPLORER[window]
    for call in plans[key]:
        if call.began > ended:
            break
        if call.outcome == "ok" and call.ended + PLAN_CHANGED_WITHIN_S < began:
            limits = []
            current = call.body[window]
        else:
            limits.append(call.body[window])
    return max([current, *limits])


def window_of(facts, call, window):
    """Returns the UTC window of a request, or `None` if the window may have changed before the service counted it."""
    key = id(call), window
    if key not in facts.windows:
        is_answered = call.status is not None and call.status < 500
        counted = call.ended if is_answered else call.ended + EXECUTED_WITHIN_S
        moments = (datetime.fromtimestamp(facts.history.wall(at), timezone.utc) for at in (call.began, counted))
        began, ended = (moment.strftime(WINDOWS[window]) for moment in moments)
        facts.windows[key] = began if began == ended else None
    return facts.windows[key]
