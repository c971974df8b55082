from aws_durable_execution_sdk_python import durable_execution, durable_step


class Declined(Exception):
    def __init__(self, code, message):
        super().__init__(message)


@durable_step
def charge(order):
    raise RuntimeError("the real charge ran")


def submit(callback_id, context):
    raise RuntimeError("the real submitter ran")


@durable_execution
def handler(order, context):
    paid = context.step(charge(order), retries=[1, 3600])
    approved = context.wait_for_callback(submit, "approval")
    sent = context.step(lambda _: "sent " + order["id"], name="send")
    return {"paid": paid, "approved": approved, "sent": sent}
