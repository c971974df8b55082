package model

import (
	"strings"

	"stepback/internal/lazyregexp"
)

// The places where the SDK for Java begins a new word in a service's ID.
var (
	wordBreak   = lazyregexp.New(`[^A-Za-z0-9]+`)
	upperV      = lazyregexp.New(`([^A-Z]{2,})V([0-9]+)`)
	lowerV      = lazyregexp.New(`([^a-z]{2,})v([0-9]+)`)
	camel       = lazyregexp.New(`([a-z])([A-Z][a-zA-Z0-9])`)
	acronym     = lazyregexp.New(`([A-Z]+)([A-Z][a-z])`)
	afterNumber = lazyregexp.New(`([0-9])([a-zA-Z])`)
)

// ClassName returns the prefix of a service's class names in the SDK for Java, from the serviceId of its model:
// DynamoDB becomes DynamoDb, "IoT Data Plane" IotDataPlane, SESv2 SesV2, "Config Service" Config.
func ClassName(id string) string {
	t := wordBreak.ReplaceAllString(id, " ")
	t = lowerV.ReplaceAllString(t, "$1 v$2 ")
	t = upperV.ReplaceAllString(t, "$1 V$2 ")
	t = camel.ReplaceAllString(t, "$1 $2")
	t = acronym.ReplaceAllString(t, "$1 $2")
	t = afterNumber.ReplaceAllString(t, "$1 $2")
	var b strings.Builder
	for _, word := range strings.Fields(t) {
		b.WriteString(strings.ToUpper(word[:1]) + strings.ToLower(word[1:]))
	}
	name := strings.TrimPrefix(strings.TrimPrefix(b.String(), "Amazon"), "Aws")
	return strings.TrimSuffix(name, "Service")
}

// ServiceName returns a service's name in Resources of AWS SDK integrations, from the serviceId of its model.
func ServiceName(id string) string { return strings.ToLower(ClassName(id)) }
