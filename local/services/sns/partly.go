package sns

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AddPermission": "evaluated only with `serve --enforce-iam`",
	"CreateTopic": "no `DataProtectionPolicy`, `ArchivePolicy` or sickly retry policies; messages are not encrypted, " +
		"and the settings for delivery logs have no effect",
	"Publish":                   "not to phone numbers or mobile devices",
	"SetSubscriptionAttributes": "as Subscribe",
	"SetTopicAttributes":        "as CreateTopic",
	"Subscribe":                 "not `sms`, `application` or `firehose`; no `ReplayPolicy`",
}
