"""Times within which the service keeps a promise, in seconds. They include the delays of a busy machine."""

NEVER = float("inf")
# Maximum difference between a time of the service and the history.
CLOCK_S = 1.0
# Commits that do not wait for the disk of PostgreSQL can be lost if they are younger than this at a kill.
RELAXED_S = 1.0
# A due delivery reaches a receiver that responds: a claim, the pause after an overload response, the pause between
# probes.
DELIVERED_WITHIN_S = 6.0
# A change of a webhook holds on every node.
CHANGED_WITHIN_S = 3.0
# A request arrives at a receiver after the decision of a node to send it.
STARTED_WITHIN_S = 2.0
# The timestamp of an attempt is its time, in whole seconds.
STAMPED_WITHIN_S = 5.0
# The outcome of an attempt is stored.
RECORDED_WITHIN_S = 4.0
# A request takes effect although its caller got no response: it waited in a frozen node, or for the database.
EXECUTED_WITHIN_S = 10.0
# A change of a plan holds on every node.
PLAN_CHANGED_WITHIN_S = 5.5
