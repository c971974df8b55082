package sqs

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stepback/aws"
)

const (
	mostAttributes = 10
	traceHeader    = "AWSTraceHeader"
)

var (
	// attributeName matches valid names of message attributes. groupName matches valid group and deduplication IDs.
	attributeName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_.-]{1,256}$`) })
	groupName     = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile("^[A-Za-z0-9!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~]{1,128}$")
	})
)

func tooLong(most int) *aws.Error {
	return invalid("One or more parameters are invalid. Reason: Message must be shorter than %d bytes.", most)
}

// check returns an error for a message that the queue does not accept.
func (m *outgoing) check(l *limits) error {
	if m.Body == "" {
		return missing("MessageBody")
	}
	if !validText(m.Body) {
		return &aws.Error{Code: "InvalidMessageContents", Message: "Invalid characters found. Valid unicode characters " +
			"are #x9 | #xA | #xD | #x20 to #xD7FF | #xE000 to #xFFFD | #x10000 to #x10FFFF"}
	}
	if err := checkMessageAttributes(m.Attributes); err != nil {
		return err
	}
	for name, a := range m.System {
		if name != traceHeader || a.DataType != "String" || a.StringValue == nil {
			return invalid("Message system attribute name '%s' is invalid.", name)
		}
	}
	if m.size() > l.messageBytes {
		return tooLong(l.messageBytes)
	}
	if m.Delay != nil && (*m.Delay < 0 || *m.Delay > mostDelay) {
		return invalidValue(*m.Delay, delaySeconds, "DelaySeconds must be >= 0 and <= 900.")
	}
	return m.checkOrder(l)
}

// checkOrder validates group, deduplication ID and delay; the rules differ for FIFO and standard queues.
func (m *outgoing) checkOrder(l *limits) error {
	const unfit = "The request include parameter that is not valid for this queue type."
	if m.Group != nil && !groupName().MatchString(*m.Group) {
		return invalidValue(*m.Group, "MessageGroupId",
			"MessageGroupId can only include alphanumeric and punctuation characters. 1 to 128 in length.")
	}
	if m.Deduplication != nil && !groupName().MatchString(*m.Deduplication) {
		return invalidValue(*m.Deduplication, "MessageDeduplicationId",
			"MessageDeduplicationId can only include alphanumeric and punctuation characters. 1 to 128 in length.")
	}
	switch {
	case !l.fifo && m.Deduplication != nil:
		return invalidValue(*m.Deduplication, "MessageDeduplicationId", unfit)
	case !l.fifo:
		return nil
	case m.Delay != nil && *m.Delay > 0:
		return invalidValue(*m.Delay, delaySeconds, unfit)
	}
	return m.checkIdentity(l)
}

// checkIdentity returns an error if a message to a FIFO queue lacks its group, or its deduplication ID although the
// queue needs one. In a batch, either fails the whole request.
func (m *outgoing) checkIdentity(l *limits) error {
	switch {
	case !l.fifo:
	case m.Group == nil:
		return missing("MessageGroupId")
	case m.Deduplication == nil && !l.contentBased:
		return invalid("The queue should either have ContentBasedDeduplication enabled or MessageDeduplicationId " +
			"provided explicitly")
	}
	return nil
}

// validText reports whether s contains only characters that XML 1.0 allows.
func validText(s string) bool {
	return utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool {
		return r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == 0xFFFE || r == 0xFFFF
	})
}

// size returns the number of bytes that count towards MaximumMessageSize.
func (m *outgoing) size() int {
	n := len(m.Body)
	for name, a := range m.Attributes {
		value, _ := a.value()
		n += len(name) + len(a.DataType) + len(value)
	}
	return n
}

func checkMessageAttributes(attributes map[string]attribute) error {
	if len(attributes) > mostAttributes {
		return invalid("Number of message attributes [%d] exceeds the allowed maximum [%d].", len(attributes),
			mostAttributes)
	}
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		lower := strings.ToLower(name)
		if !attributeName().MatchString(name) || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") ||
			strings.Contains(name, "..") || strings.HasPrefix(lower, "aws.") || strings.HasPrefix(lower, "amazon.") {
			return invalid("Message (user) attribute name '%s' is invalid. It can contain A-Z, a-z, 0-9, underscores, "+
				"hyphens and single periods within it, and must not begin with AWS. or Amazon.", name)
		}
		if err := a.check(name); err != nil {
			return err
		}
	}
	return nil
}

// check validates the type and the value of an attribute.
func (a attribute) check(name string) error {
	kind, _, _ := strings.Cut(a.DataType, ".")
	const longest = 256
	switch {
	case a.DataType == "":
		return invalid("The message attribute '%s' must contain non-empty message attribute type.", name)
	case kind != "String" && kind != "Number" && kind != "Binary" || len(a.DataType) > longest:
		return invalid("The type of message (user) attribute '%s' is invalid. You must use only the following supported "+
			"type prefixes: Binary, Number, String.", name)
	case len(a.StringValues) > 0 || len(a.BinaryValues) > 0:
		return unsupported("Message attribute list values in SendMessage operation are not supported.")
	}
	value, text := a.value()
	switch {
	case len(value) == 0:
		return invalid("Message (user) attribute '%s' must contain a non-empty value of type '%s'.", name, kind)
	case text != (kind != "Binary") || text && a.BinaryValue != nil:
		return invalid("The message attribute '%s' with type '%s' must use field '%s'.", name, kind,
			map[bool]string{true: "Binary", false: "String"}[kind == "Binary"])
	case text && !validText(string(value)):
		return invalid("The message attribute '%s' contains invalid characters.", name)
	case kind == "Number":
		number := strings.TrimFunc(string(value), unicode.IsSpace)
		if _, err := strconv.ParseFloat(number, 64); err != nil || strings.ContainsAny(number, "xX_pPiInN") {
			return invalid("Can't cast the value of message (user) attribute '%s' to a number.", name)
		}
	}
	return nil
}
