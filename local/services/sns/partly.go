package sns

// partly lists the limitations of implemented operations.
var partly = map[string]string{
	"AddPermission": "evaluated only with `serve --enforce-iam`",
	"CreateTopic": "no statements in `DataProtectionPolicy`, no `ArchivePolicy` or sickly retry policies; messages are not encrypted, " +
		"and the settings for delivery logs have no effect",
	"Publish":                   "not to mobile devices",
	"PutDataProtectionPolicy":   "no policies with statements",
	"SetSubscriptionAttributes": "as Subscribe",
	"SetTopicAttributes":        "as CreateTopic",
	"Subscribe":                 "not `application` or `firehose`; no `ReplayPolicy`",
}
