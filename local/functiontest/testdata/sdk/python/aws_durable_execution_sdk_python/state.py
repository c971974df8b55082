from collections import namedtuple

OperationIdentifier = namedtuple("OperationIdentifier", "operation_id sub_type type parent_id name")


class ExecutionState:
    def wrap_user_function(self, user_function, operation_identifier, is_replay_children=False, attempt=None):
        return user_function
