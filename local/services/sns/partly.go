package sns

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AddPermission": "kept, and evaluated for nobody",
	"CreateTopic": "no `DataProtectionPolicy`, `ArchivePolicy` and sickly retry policies; KMS keys and delivery " +
		"logs are kept without effect",
	"Publish":                   "not to phone numbers and mobile devices",
	"SetSubscriptionAttributes": "as Subscribe",
	"SetTopicAttributes":        "as CreateTopic",
	"Subscribe":                 "not `sms`, `application` and `firehose`; no `ReplayPolicy`",
}
