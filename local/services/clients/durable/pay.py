"""A durable function on AWS's SDK for Python, for pay.test.yaml."""

from aws_durable_execution_sdk_python import durable_execution, durable_step
from aws_durable_execution_sdk_python.config import Duration, JitterStrategy, StepConfig, WaitForCallbackConfig
from aws_durable_execution_sdk_python.retries import RetryStrategyConfig, create_retry_strategy


class Declined(Exception):
    pass


@durable_step
def charge(step, order):
    raise RuntimeError("the real charge ran")


def submit(callback_id, context):
    raise RuntimeError("the real submitter ran")


retries = create_retry_strategy(RetryStrategyConfig(max_attempts=3, initial_delay=Duration.from_seconds(2),
                                                    jitter_strategy=JitterStrategy.NONE, retryable_error_types=[Declined]))


@durable_execution
def handler(order, context):
    paid = context.step(charge(order), config=StepConfig(retry_strategy=retries))
    context.wait(Duration.from_days(1), name="cool down")
    said = context.wait_for_callback(submit, name="approval", config=WaitForCallbackConfig(timeout=Duration.from_hours(2)))
    stock = context.invoke("stock:live", {"id": order["id"]}, name="stock")
    rows = context.map(order["rows"], lambda c, row, i, rows: c.step(lambda _: row * 2, name="double"), name="rows")
    return {"paid": paid, "said": said, "stock": stock, "rows": rows.get_results()}
