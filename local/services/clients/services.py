"""The services beside Step Functions, by boto3 against a running stepback serve: what docs/services.md says works, service by service.

Run by run.sh, which sets AWS_ENDPOINT_URL. Exits with an error where an answer is not what AWS would answer, and says of each
service how many operations were called."""

import base64
import datetime
import json
import sys
import time
import traceback
from collections import defaultdict

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

CONFIG = Config(retries={"max_attempts": 1}, read_timeout=70, s3={"addressing_style": "path"}, inject_host_prefix=False)
ROLE = "arn:aws:iam::000000000000:role/r"
called = defaultdict(set)


def client(name):
    c = boto3.client(name, config=CONFIG)
    c.meta.events.register(f"before-call.{c.meta.service_model.service_id.hyphenize()}.*",
                           lambda model, **_: called[name].add(model.name))
    return c


def refused(code, call, **parameters):
    """Expects an error of this code."""
    try:
        answer = call(**parameters)
    except ClientError as e:
        assert e.response["Error"]["Code"] == code, f"{e}, want {code}"
        return
    raise AssertionError(f"{parameters} was answered with {answer}, want {code}")


def eventually(check, seconds=30):
    """Waits until a check returns something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if result := check():
            return result
        time.sleep(0.05)
    raise AssertionError("it did not happen within %d seconds" % seconds)


def queue(name, **attributes):
    url = sqs.create_queue(QueueName=name, Attributes=attributes)["QueueUrl"]
    return url, sqs.get_queue_attributes(QueueUrl=url, AttributeNames=["QueueArn"])["Attributes"]["QueueArn"]


def receive(url):
    def check():
        for m in sqs.receive_message(QueueUrl=url, WaitTimeSeconds=1, MessageAttributeNames=["All"]).get("Messages", []):
            sqs.delete_message(QueueUrl=url, ReceiptHandle=m["ReceiptHandle"])
            return m
    return eventually(check)


def of_sqs():
    url, arn = queue("q")
    dead_url, dead_arn = queue("dead")
    assert sqs.get_queue_url(QueueName="q")["QueueUrl"] == url
    assert url in sqs.list_queues()["QueueUrls"]
    sqs.set_queue_attributes(QueueUrl=url, Attributes={
        "RedrivePolicy": json.dumps({"deadLetterTargetArn": dead_arn, "maxReceiveCount": 3})})
    assert sqs.list_dead_letter_source_queues(QueueUrl=dead_url)["queueUrls"] == [url]
    sqs.send_message(QueueUrl=url, MessageBody="a", MessageAttributes={"k": {"DataType": "String", "StringValue": "v"}})
    m = receive(url)
    assert m["Body"] == "a" and m["MessageAttributes"]["k"]["StringValue"] == "v"
    sqs.send_message_batch(QueueUrl=url, Entries=[{"Id": str(i), "MessageBody": str(i)} for i in range(3)])
    got = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10, WaitTimeSeconds=1)["Messages"]
    sqs.change_message_visibility(QueueUrl=url, ReceiptHandle=got[0]["ReceiptHandle"], VisibilityTimeout=60)
    sqs.change_message_visibility_batch(QueueUrl=url, Entries=[
        {"Id": "0", "ReceiptHandle": got[0]["ReceiptHandle"], "VisibilityTimeout": 0}])
    sqs.delete_message_batch(QueueUrl=url, Entries=[{"Id": "0", "ReceiptHandle": got[0]["ReceiptHandle"]}])
    sqs.tag_queue(QueueUrl=url, Tags={"a": "b"})
    assert sqs.list_queue_tags(QueueUrl=url)["Tags"] == {"a": "b"}
    sqs.untag_queue(QueueUrl=url, TagKeys=["a"])
    sqs.add_permission(QueueUrl=url, Label="l", AWSAccountIds=["000000000000"], Actions=["SendMessage"])
    sqs.remove_permission(QueueUrl=url, Label="l")
    sqs.send_message(QueueUrl=dead_url, MessageBody="d")
    try:
        task = sqs.start_message_move_task(SourceArn=dead_arn, DestinationArn=arn)["TaskHandle"]
        sqs.list_message_move_tasks(SourceArn=dead_arn)
        sqs.cancel_message_move_task(TaskHandle=task)
    except ClientError as e:  # it may be through already
        assert e.response["Error"]["Code"] in ("ResourceNotFoundException", "AWS.SimpleQueueService.UnsupportedOperation"), e
    sqs.purge_queue(QueueUrl=url)
    refused("AWS.SimpleQueueService.NonExistentQueue", sqs.get_queue_url, QueueName="none")
    sqs.delete_queue(QueueUrl=dead_url)


def of_s3():
    s3.create_bucket(Bucket="bucket")
    s3.head_bucket(Bucket="bucket")
    assert [b["Name"] for b in s3.list_buckets()["Buckets"]] == ["bucket"]
    s3.put_bucket_versioning(Bucket="bucket", VersioningConfiguration={"Status": "Enabled"})
    assert s3.get_bucket_versioning(Bucket="bucket")["Status"] == "Enabled"
    s3.put_object(Bucket="bucket", Key="k", Body=b"text", Metadata={"a": "b"})
    assert s3.get_object(Bucket="bucket", Key="k")["Body"].read() == b"text"
    assert s3.head_object(Bucket="bucket", Key="k")["Metadata"] == {"a": "b"}
    s3.copy_object(Bucket="bucket", Key="k2", CopySource={"Bucket": "bucket", "Key": "k"})
    assert [o["Key"] for o in s3.list_objects_v2(Bucket="bucket")["Contents"]] == ["k", "k2"]
    s3.list_objects(Bucket="bucket")
    s3.list_object_versions(Bucket="bucket")
    s3.put_object_tagging(Bucket="bucket", Key="k", Tagging={"TagSet": [{"Key": "a", "Value": "b"}]})
    assert s3.get_object_tagging(Bucket="bucket", Key="k")["TagSet"] == [{"Key": "a", "Value": "b"}]
    s3.delete_object_tagging(Bucket="bucket", Key="k")
    upload = s3.create_multipart_upload(Bucket="bucket", Key="large")["UploadId"]
    part = s3.upload_part(Bucket="bucket", Key="large", UploadId=upload, PartNumber=1, Body=b"x" * 100)
    s3.list_parts(Bucket="bucket", Key="large", UploadId=upload)
    s3.list_multipart_uploads(Bucket="bucket")
    s3.complete_multipart_upload(Bucket="bucket", Key="large", UploadId=upload,
                                 MultipartUpload={"Parts": [{"PartNumber": 1, "ETag": part["ETag"]}]})
    s3.abort_multipart_upload(Bucket="bucket", Key="l", UploadId=s3.create_multipart_upload(Bucket="bucket", Key="l")["UploadId"])
    s3.delete_object(Bucket="bucket", Key="k2")
    s3.delete_objects(Bucket="bucket", Delete={"Objects": [{"Key": "k"}, {"Key": "large"}]})
    refused("NoSuchKey", s3.get_object, Bucket="bucket", Key="none")


def of_sns():
    url, arn = queue("fan")
    topic = sns.create_topic(Name="t", Tags=[{"Key": "a", "Value": "b"}])["TopicArn"]
    assert topic in [t["TopicArn"] for t in sns.list_topics()["Topics"]]
    s = sns.subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn, ReturnSubscriptionArn=True)["SubscriptionArn"]
    sns.set_subscription_attributes(SubscriptionArn=s, AttributeName="FilterPolicy", AttributeValue='{"k":["v"]}')
    assert sns.get_subscription_attributes(SubscriptionArn=s)["Attributes"]["FilterPolicy"] == '{"k":["v"]}'
    sns.publish(TopicArn=topic, Message="no")
    sns.publish(TopicArn=topic, Message="yes", MessageAttributes={"k": {"DataType": "String", "StringValue": "v"}})
    assert json.loads(receive(url)["Body"])["Message"] == "yes"
    assert not sns.publish_batch(TopicArn=topic, PublishBatchRequestEntries=[{"Id": "1", "Message": "m"}])["Failed"]
    sns.set_topic_attributes(TopicArn=topic, AttributeName="DisplayName", AttributeValue="d")
    assert sns.get_topic_attributes(TopicArn=topic)["Attributes"]["DisplayName"] == "d"
    assert len(sns.list_subscriptions_by_topic(TopicArn=topic)["Subscriptions"]) == 1
    sns.list_subscriptions()
    sns.tag_resource(ResourceArn=topic, Tags=[{"Key": "c", "Value": "d"}])
    assert len(sns.list_tags_for_resource(ResourceArn=topic)["Tags"]) == 2
    sns.untag_resource(ResourceArn=topic, TagKeys=["c"])
    sns.unsubscribe(SubscriptionArn=s)
    sns.delete_topic(TopicArn=topic)
    refused("NotFound", sns.publish, TopicArn=topic, Message="m")


def of_events():
    url, arn = queue("ruled")
    bus = events.create_event_bus(Name="bus")["EventBusArn"]
    events.describe_event_bus(Name="bus")
    assert "bus" in [b["Name"] for b in events.list_event_buses()["EventBuses"]]
    rule = events.put_rule(Name="r", EventBusName="bus", EventPattern='{"source":["s"]}')["RuleArn"]
    events.put_targets(Rule="r", EventBusName="bus", Targets=[{"Id": "1", "Arn": arn}])
    assert events.list_targets_by_rule(Rule="r", EventBusName="bus")["Targets"][0]["Arn"] == arn
    assert events.list_rule_names_by_target(TargetArn=arn, EventBusName="bus")["RuleNames"] == ["r"]
    assert events.describe_rule(Name="r", EventBusName="bus")["State"] == "ENABLED"
    assert [r["Name"] for r in events.list_rules(EventBusName="bus")["Rules"]] == ["r"]
    out = events.put_events(Entries=[{"EventBusName": "bus", "Source": "s", "DetailType": "d", "Detail": '{"a":1}'}])
    assert out["FailedEntryCount"] == 0
    assert json.loads(receive(url)["Body"])["detail"] == {"a": 1}
    events.disable_rule(Name="r", EventBusName="bus")
    events.enable_rule(Name="r", EventBusName="bus")
    assert events.test_event_pattern(EventPattern='{"source":["s"]}', Event=json.dumps({
        "id": "1", "account": "1", "source": "s", "time": "2026-01-01T00:00:00Z", "region": "r", "resources": [],
        "detail-type": "d", "detail": {}}))["Result"]
    events.tag_resource(ResourceARN=rule, Tags=[{"Key": "a", "Value": "b"}])
    assert events.list_tags_for_resource(ResourceARN=rule)["Tags"] == [{"Key": "a", "Value": "b"}]
    events.untag_resource(ResourceARN=rule, TagKeys=["a"])
    events.remove_targets(Rule="r", EventBusName="bus", Ids=["1"])
    events.delete_rule(Name="r", EventBusName="bus")
    events.delete_event_bus(Name="bus")
    assert bus


def of_scheduler():
    url, arn = queue("scheduled")
    target = {"Arn": arn, "RoleArn": ROLE, "Input": "now"}
    scheduler.create_schedule_group(Name="g")
    scheduler.get_schedule_group(Name="g")
    scheduler.list_schedule_groups()
    at = (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=2)).strftime("at(%Y-%m-%dT%H:%M:%S)")
    made = scheduler.create_schedule(Name="s", GroupName="g", ScheduleExpression=at, FlexibleTimeWindow={"Mode": "OFF"}, Target=target)
    assert made["ScheduleArn"]
    assert receive(url)["Body"] == "now"
    scheduler.update_schedule(Name="s", GroupName="g", ScheduleExpression="rate(1 hour)", FlexibleTimeWindow={"Mode": "OFF"}, Target=target)
    assert scheduler.get_schedule(Name="s", GroupName="g")["ScheduleExpression"] == "rate(1 hour)"
    assert len(scheduler.list_schedules(GroupName="g")["Schedules"]) == 1
    group = scheduler.get_schedule_group(Name="g")["Arn"]
    scheduler.tag_resource(ResourceArn=group, Tags=[{"Key": "a", "Value": "b"}])
    assert scheduler.list_tags_for_resource(ResourceArn=group)["Tags"] == [{"Key": "a", "Value": "b"}]
    scheduler.untag_resource(ResourceArn=group, TagKeys=["a"])
    scheduler.delete_schedule(Name="s", GroupName="g")
    scheduler.delete_schedule_group(Name="g")


def of_dynamodb():
    d = dynamodb
    d.create_table(TableName="table", BillingMode="PAY_PER_REQUEST", KeySchema=[{"AttributeName": "k", "KeyType": "HASH"}],
                   AttributeDefinitions=[{"AttributeName": "k", "AttributeType": "S"}])
    assert d.list_tables()["TableNames"] == ["table"]
    eventually(lambda: d.describe_table(TableName="table")["Table"]["TableStatus"] == "ACTIVE")
    key = {"k": {"S": "1"}}
    d.put_item(TableName="table", Item={**key, "n": {"N": "1"}})
    d.update_item(TableName="table", Key=key, UpdateExpression="ADD n :o", ExpressionAttributeValues={":o": {"N": "2"}})
    assert d.get_item(TableName="table", Key=key)["Item"]["n"] == {"N": "3"}
    refused("ConditionalCheckFailedException", d.put_item, TableName="table", Item=key, ConditionExpression="attribute_not_exists(k)")
    d.batch_write_item(RequestItems={"table": [{"PutRequest": {"Item": {"k": {"S": "2"}}}}]})
    assert len(d.batch_get_item(RequestItems={"table": {"Keys": [key, {"k": {"S": "2"}}]}})["Responses"]["table"]) == 2
    assert d.query(TableName="table", KeyConditionExpression="k = :k", ExpressionAttributeValues={":k": {"S": "1"}})["Count"] == 1
    assert d.scan(TableName="table")["Count"] == 2
    d.transact_write_items(TransactItems=[{"Put": {"TableName": "table", "Item": {"k": {"S": "3"}}}}])
    assert d.transact_get_items(TransactItems=[{"Get": {"TableName": "table", "Key": key}}])["Responses"][0]["Item"]["n"] == {"N": "3"}
    d.update_time_to_live(TableName="table", TimeToLiveSpecification={"Enabled": True, "AttributeName": "x"})
    d.describe_time_to_live(TableName="table")
    d.update_table(TableName="table", StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_IMAGE"})
    arn = d.describe_table(TableName="table")["Table"]["TableArn"]
    d.tag_resource(ResourceArn=arn, Tags=[{"Key": "a", "Value": "b"}])
    assert d.list_tags_of_resource(ResourceArn=arn)["Tags"] == [{"Key": "a", "Value": "b"}]
    d.untag_resource(ResourceArn=arn, TagKeys=["a"])
    stream = streams.list_streams(TableName="table")["Streams"][0]["StreamArn"]
    d.put_item(TableName="table", Item={"k": {"S": "4"}})
    shard = streams.describe_stream(StreamArn=stream)["StreamDescription"]["Shards"][0]["ShardId"]
    at = streams.get_shard_iterator(StreamArn=stream, ShardId=shard, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
    assert streams.get_records(ShardIterator=at)["Records"][0]["dynamodb"]["Keys"] == {"k": {"S": "4"}}
    d.delete_item(TableName="table", Key=key)
    d.delete_table(TableName="table")
    refused("ResourceNotFoundException", d.get_item, TableName="table", Key=key)


def of_cloudwatch():
    now = datetime.datetime.now(datetime.timezone.utc)
    cloudwatch.put_metric_data(Namespace="n", MetricData=[{"MetricName": "m", "Value": 5, "Timestamp": now}])
    span = {"StartTime": now - datetime.timedelta(minutes=5), "EndTime": now + datetime.timedelta(minutes=5)}
    out = cloudwatch.get_metric_statistics(Namespace="n", MetricName="m", Period=60, Statistics=["Sum"], **span)
    assert out["Datapoints"][0]["Sum"] == 5, out
    out = cloudwatch.get_metric_data(MetricDataQueries=[{"Id": "a", "MetricStat": {
        "Metric": {"Namespace": "n", "MetricName": "m"}, "Period": 60, "Stat": "Maximum"}}], **span)
    assert out["MetricDataResults"][0]["Values"] == [5], out
    assert cloudwatch.list_metrics(Namespace="n")["Metrics"][0]["MetricName"] == "m"
    cloudwatch.put_metric_alarm(AlarmName="a", Namespace="n", MetricName="m", Statistic="Maximum", Period=60, EvaluationPeriods=1,
                                Threshold=1, ComparisonOperator="GreaterThanThreshold", TreatMissingData="ignore")
    cloudwatch.put_composite_alarm(AlarmName="c", AlarmRule="ALARM(a)")
    cloudwatch.set_alarm_state(AlarmName="a", StateValue="ALARM", StateReason="because")
    assert cloudwatch.describe_alarms(AlarmNames=["a"])["MetricAlarms"][0]["StateValue"] == "ALARM"
    cloudwatch.describe_alarms_for_metric(Namespace="n", MetricName="m")
    assert cloudwatch.describe_alarm_history(AlarmName="a")["AlarmHistoryItems"]
    cloudwatch.disable_alarm_actions(AlarmNames=["a"])
    cloudwatch.enable_alarm_actions(AlarmNames=["a"])
    cloudwatch.put_dashboard(DashboardName="d", DashboardBody='{"widgets":[]}')
    cloudwatch.get_dashboard(DashboardName="d")
    cloudwatch.list_dashboards()
    cloudwatch.delete_dashboards(DashboardNames=["d"])
    arn = cloudwatch.describe_alarms(AlarmNames=["a"])["MetricAlarms"][0]["AlarmArn"]
    cloudwatch.tag_resource(ResourceARN=arn, Tags=[{"Key": "a", "Value": "b"}])
    assert cloudwatch.list_tags_for_resource(ResourceARN=arn)["Tags"] == [{"Key": "a", "Value": "b"}]
    cloudwatch.untag_resource(ResourceARN=arn, TagKeys=["a"])
    cloudwatch.delete_alarms(AlarmNames=["c"])
    cloudwatch.delete_alarms(AlarmNames=["a"])


def of_kms():
    key = kms.create_key(Description="d")["KeyMetadata"]["KeyId"]
    kms.create_alias(AliasName="alias/a", TargetKeyId=key)
    assert kms.describe_key(KeyId="alias/a")["KeyMetadata"]["KeyId"] == key
    sealed = kms.encrypt(KeyId=key, Plaintext=b"text", EncryptionContext={"a": "b"})["CiphertextBlob"]
    assert kms.decrypt(CiphertextBlob=sealed, EncryptionContext={"a": "b"})["Plaintext"] == b"text"
    refused("InvalidCiphertextException", kms.decrypt, CiphertextBlob=sealed)
    data = kms.generate_data_key(KeyId=key, KeySpec="AES_256")
    assert kms.decrypt(CiphertextBlob=data["CiphertextBlob"])["Plaintext"] == data["Plaintext"]
    kms.list_keys()
    kms.list_aliases()
    kms.disable_key(KeyId=key)
    kms.enable_key(KeyId=key)
    kms.delete_alias(AliasName="alias/a")
    kms.schedule_key_deletion(KeyId=key, PendingWindowInDays=7)


def of_secretsmanager():
    s = secrets
    arn = s.create_secret(Name="s", SecretString="1")["ARN"]
    s.put_secret_value(SecretId="s", SecretString="2")
    assert s.get_secret_value(SecretId=arn)["SecretString"] == "2"
    assert s.get_secret_value(SecretId="s", VersionStage="AWSPREVIOUS")["SecretString"] == "1"
    s.update_secret(SecretId="s", Description="d")
    assert s.describe_secret(SecretId="s")["Description"] == "d"
    assert [x["Name"] for x in s.list_secrets()["SecretList"]] == ["s"]
    s.list_secret_version_ids(SecretId="s")
    assert len(s.get_random_password(PasswordLength=20)["RandomPassword"]) == 20
    s.tag_resource(SecretId="s", Tags=[{"Key": "a", "Value": "b"}])
    s.untag_resource(SecretId="s", TagKeys=["a"])
    s.delete_secret(SecretId="s")
    s.restore_secret(SecretId="s")
    s.delete_secret(SecretId="s", ForceDeleteWithoutRecovery=True)
    refused("ResourceNotFoundException", s.get_secret_value, SecretId="s")


def of_ssm():
    ssm.put_parameter(Name="/a/b", Value="1", Type="String")
    ssm.put_parameter(Name="/a/b", Value="2", Type="String", Overwrite=True)
    assert ssm.get_parameter(Name="/a/b")["Parameter"]["Value"] == "2"
    assert ssm.get_parameters(Names=["/a/b", "/none"])["InvalidParameters"] == ["/none"]
    assert len(ssm.get_parameters_by_path(Path="/a")["Parameters"]) == 1
    ssm.describe_parameters()
    ssm.get_parameter_history(Name="/a/b")
    ssm.delete_parameter(Name="/a/b")
    refused("ParameterNotFound", ssm.get_parameter, Name="/a/b")


def of_iam():
    trust = json.dumps({"Version": "2012-10-17", "Statement": [
        {"Effect": "Allow", "Principal": {"Service": "lambda.amazonaws.com"}, "Action": "sts:AssumeRole"}]})
    allow = json.dumps({"Version": "2012-10-17", "Statement": [{"Effect": "Allow", "Action": "s3:GetObject", "Resource": "*"}]})
    role = iam.create_role(RoleName="role", AssumeRolePolicyDocument=trust)["Role"]["Arn"]
    iam.get_role(RoleName="role")
    assert "role" in [r["RoleName"] for r in iam.list_roles()["Roles"]]
    iam.put_role_policy(RoleName="role", PolicyName="p", PolicyDocument=allow)
    iam.get_role_policy(RoleName="role", PolicyName="p")
    assert iam.list_role_policies(RoleName="role")["PolicyNames"] == ["p"]
    policy = iam.create_policy(PolicyName="managed", PolicyDocument=allow)["Policy"]["Arn"]
    iam.attach_role_policy(RoleName="role", PolicyArn=policy)
    assert iam.list_attached_role_policies(RoleName="role")["AttachedPolicies"][0]["PolicyArn"] == policy
    iam.detach_role_policy(RoleName="role", PolicyArn=policy)
    iam.delete_policy(PolicyArn=policy)
    iam.delete_role_policy(RoleName="role", PolicyName="p")
    assert sts.get_caller_identity()["Account"] == "000000000000"
    assert sts.assume_role(RoleArn=role, RoleSessionName="session")["Credentials"]["SecretAccessKey"]
    iam.delete_role(RoleName="role")
    refused("NoSuchEntity", iam.get_role, RoleName="role")


def of_ecr():
    ecr.create_repository(repositoryName="repository")
    assert [r["repositoryName"] for r in ecr.describe_repositories()["repositories"]] == ["repository"]
    ecr.delete_repository(repositoryName="repository", force=True)
    refused("RepositoryNotFoundException", ecr.describe_repositories, repositoryNames=["repository"])


def of_cloudformation():
    c = cloudformation
    template = json.dumps({"Resources": {"Q": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "stacked"}}},
                           "Outputs": {"Url": {"Value": {"Ref": "Q"}}}})
    c.validate_template(TemplateBody=template)
    c.create_stack(StackName="s", TemplateBody=template)

    def status(*wanted):
        eventually(lambda: c.describe_stacks(StackName="s")["Stacks"][0]["StackStatus"] in wanted)
    status("CREATE_COMPLETE")
    assert c.describe_stacks(StackName="s")["Stacks"][0]["Outputs"][0]["OutputValue"].endswith("/stacked")
    assert c.describe_stack_resources(StackName="s")["StackResources"][0]["LogicalResourceId"] == "Q"
    c.describe_stack_resource(StackName="s", LogicalResourceId="Q")
    c.list_stack_resources(StackName="s")
    c.describe_stack_events(StackName="s")
    c.get_template(StackName="s")
    c.list_stacks()
    changed = template.replace('"stacked"}', '"stacked", "DelaySeconds": 1}')
    c.create_change_set(StackName="s", ChangeSetName="c", TemplateBody=changed)
    eventually(lambda: c.describe_change_set(StackName="s", ChangeSetName="c")["Status"] == "CREATE_COMPLETE")
    c.list_change_sets(StackName="s")
    c.execute_change_set(StackName="s", ChangeSetName="c")
    status("UPDATE_COMPLETE")
    c.update_stack(StackName="s", TemplateBody=template)
    time.sleep(0.2)
    status("UPDATE_COMPLETE")
    c.delete_stack(StackName="s")
    eventually(lambda: "s" not in [x["StackName"] for x in c.list_stacks()["StackSummaries"] if x["StackStatus"] != "DELETE_COMPLETE"])


def of_logs():
    logs.create_log_group(logGroupName="g")
    assert logs.describe_log_groups()["logGroups"][0]["logGroupName"]
    logs.put_retention_policy(logGroupName="g", retentionInDays=7)
    logs.create_log_stream(logGroupName="g", logStreamName="s")
    logs.describe_log_streams(logGroupName="g")
    now = int(time.time() * 1000)
    logs.put_log_events(logGroupName="g", logStreamName="s", logEvents=[{"timestamp": now, "message": "hello"}])
    assert logs.get_log_events(logGroupName="g", logStreamName="s")["events"][0]["message"] == "hello"
    assert logs.filter_log_events(logGroupName="g", filterPattern="hello")["events"][0]["message"] == "hello"
    logs.put_metric_filter(logGroupName="g", filterName="f", filterPattern="hello", metricTransformations=[
        {"metricName": "hellos", "metricNamespace": "n", "metricValue": "1"}])
    assert logs.describe_metric_filters(logGroupName="g")["metricFilters"][0]["filterName"] == "f"
    assert logs.test_metric_filter(filterPattern="hello", logEventMessages=["hello", "no"])["matches"]
    logs.delete_metric_filter(logGroupName="g", filterName="f")
    tail = logs.start_live_tail(logGroupIdentifiers=["arn:aws:logs:us-east-1:000000000000:log-group:g"])["responseStream"]
    for event in tail:
        if "sessionStart" in event:
            logs.put_log_events(logGroupName="g", logStreamName="s", logEvents=[{"timestamp": now, "message": "tailed"}])
        elif event["sessionUpdate"]["sessionResults"]:
            assert event["sessionUpdate"]["sessionResults"][0]["message"] == "tailed"
            break
    tail.close()
    logs.delete_retention_policy(logGroupName="g")
    logs.delete_log_stream(logGroupName="g", logStreamName="s")
    logs.delete_log_group(logGroupName="g")


sqs, s3, sns, events = client("sqs"), client("s3"), client("sns"), client("events")
scheduler, dynamodb, streams = client("scheduler"), client("dynamodb"), client("dynamodbstreams")
cloudwatch, kms, secrets, ssm = client("cloudwatch"), client("kms"), client("secretsmanager"), client("ssm")
iam, sts, ecr = client("iam"), client("sts"), client("ecr")
cloudformation, logs = client("cloudformation"), client("logs")

failed = 0
for part in (of_sqs, of_s3, of_sns, of_events, of_scheduler, of_dynamodb, of_cloudwatch, of_kms, of_secretsmanager, of_ssm, of_iam,
             of_ecr, of_cloudformation, of_logs):
    try:
        part()
    except Exception:  # the other services are tried as well
        failed += 1
        print(f"  {part.__name__[3:]} FAILED", file=sys.stderr)
        traceback.print_exc()
for name in sorted(called):
    print(f"  {name}: {len(called[name])} operations")
sys.exit(1 if failed else 0)
