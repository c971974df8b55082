package sns

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"stepback/aws"
	"stepback/internal/lazyregexp"
)

// SNS's limits for messages.
const (
	// MaxMessageBytes is the maximum size of a message including its attributes. It is also the maximum total size
	// of the messages in a batch.
	MaxMessageBytes = 256 << 10
	// MaxSubjectCharacters is the maximum length of a subject.
	MaxSubjectCharacters = 100
	mostNameBytes        = 256 // of an attribute's name
)

var (
	errTooLong      = invalid("Message too long")
	errBatchTooLong = &aws.Error{Code: "BatchRequestTooLong",
		Message: "The length of all the messages put together is more than the limit."}
)

// The types of message attributes; each may be followed by a dot and a label.
const (
	typeString = "String"
	typeNumber = "Number"
	typeBinary = "Binary"
	typeArray  = "String.Array"
)

var dataType = lazyregexp.New(`^(?:String|Number|Binary)(?:\..+)?$`)

// checkAttributes validates message attributes.
func checkAttributes(attributes map[string]attribute) error {
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		a := attributes[name]
		if err := checkAttributeName(name); err != nil {
			return err
		}
		empty := func() error {
			return invalidValue("The message attribute '%s' must contain non-empty message attribute value for message "+
				"attribute type '%s'.", name, a.DataType)
		}
		if !dataType.MatchString(a.DataType) {
			return invalidValue("The message attribute '%s' has an invalid message attribute type, the set of supported "+
				"type prefixes is Binary, Number, and String.", name)
		}
		binary := strings.HasPrefix(a.DataType, typeBinary)
		switch {
		case a.StringValue == "" && len(a.BinaryValue) == 0:
			return empty()
		case binary && len(a.BinaryValue) == 0:
			return wrongField(name, a.DataType, typeBinary)
		case !binary && a.StringValue == "":
			return wrongField(name, a.DataType, typeString)
		case strings.HasPrefix(a.DataType, typeNumber) && !isNumber(a.StringValue):
			return invalidValue("Could not cast message attribute '%s' value to number.", name)
		}
	}
	return nil
}

func wrongField(name, kind, field string) error {
	return invalidValue("The message attribute '%s' with type '%s' must use field '%s'.", name, kind, field)
}

var number = lazyregexp.New(`^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$`)

func isNumber(text string) bool { return number.MatchString(strings.TrimSpace(text)) }

func checkAttributeName(name string) error {
	switch {
	case name == "":
		return invalidValue("Length of message attribute name must be at least 1.")
	case len(name) > mostNameBytes:
		return invalidValue("Length of message attribute name must be less than 256 bytes.")
	case strings.HasPrefix(name, "."):
		return invalidValue("Invalid message attribute name starting with character '.' was found.")
	case strings.HasSuffix(name, "."):
		return invalidValue("Invalid message attribute name ending with character '.' was found.")
	}
	last := rune(0)
	for _, c := range name {
		if c > unicode.MaxASCII || !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("_-.", c) {
			return invalidValue("Invalid non-alphanumeric character '#x%X' was found in the message attribute name. Can "+
				"only include alphanumeric characters, hyphens, underscores, or dots.", c)
		}
		if c == '.' && last == '.' {
			return invalidValue("Message attribute name can not have successive '.' character.")
		}
		last = c
	}
	return nil
}

// size returns the number of bytes that count towards MaxMessageBytes.
func (m *message) size() int {
	n := len(m.Body)
	for name, a := range m.Attributes {
		n += len(name) + len(a.DataType) + len(a.StringValue) + len(a.BinaryValue)
	}
	return n
}

// check returns an error for a message that SNS rejects for every topic.
func (m *message) check() error {
	switch {
	case m.Body == "":
		return invalid("Empty message")
	case !utf8.ValidString(m.Body):
		return invalid("Message Reason: not UTF-8")
	case !validSubject(m.Subject):
		return invalid("Subject")
	}
	if err := checkAttributes(m.Attributes); err != nil {
		return err
	}
	if m.size() > MaxMessageBytes {
		return errTooLong
	}
	return nil
}

func validSubject(s string) bool {
	return utf8.ValidString(s) && utf8.RuneCountInString(s) <= MaxSubjectCharacters &&
		!strings.ContainsFunc(s, unicode.IsControl)
}

// groupName matches valid message group IDs and deduplication IDs.
var groupName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile("^[A-Za-z0-9!\"#$%&'()*+,\\-./:;<=>?@\\[\\\\\\]^_`{|}~]{1,128}$")
})

// checkOrder validates the group and deduplication IDs; the rules differ for FIFO and standard topics.
func (m *message) checkOrder(fifo, contentBased bool) error {
	for _, p := range []struct{ name, value string }{{"MessageGroupId", m.Group}, {"MessageDeduplicationId",
		m.Deduplication}} {
		if p.value != "" && !groupName().MatchString(p.value) {
			return invalid("%s Reason: %s can only include alphanumeric and punctuation characters. 1 to 128 in length",
				p.name, p.name)
		}
	}
	switch {
	case !fifo && m.Deduplication != "":
		return invalid("MessageDeduplicationId Reason: The request includes MessageDeduplicationId parameter that is not " +
			"valid for this topic type")
	case !fifo:
		return nil
	case m.Group == "":
		return invalid("The MessageGroupId parameter is required for FIFO topics")
	case m.Deduplication == "" && !contentBased:
		return invalid("The topic should either have ContentBasedDeduplication enabled or MessageDeduplicationId " +
			"provided explicitly")
	}
	return nil
}

// structured parses a message that has a separate text for each protocol.
func (m *message) structured(structure string) error {
	switch structure {
	case "":
		return nil
	case "json":
	default:
		return invalid("MessageStructure Reason: the only structure is json, not %s", structure)
	}
	var parts map[string]any
	if json.Unmarshal([]byte(m.Body), &parts) != nil || parts == nil {
		return invalid("Message Structure - JSON message body failed to parse")
	}
	m.ByProtocol = map[string]string{}
	for protocol, part := range parts {
		if text, ok := part.(string); ok {
			m.ByProtocol[protocol] = text
		}
	}
	text, ok := m.ByProtocol["default"]
	if !ok {
		return invalid("Message Structure - No default entry in JSON message body")
	}
	m.Body = text
	return nil
}
