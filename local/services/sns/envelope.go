package sns

import (
	"encoding/base64"
	"maps"
	"slices"
	"time"

	"stepback/jsonvalue"
)

// attribute is a message attribute.
type attribute struct {
	DataType    string
	StringValue string `json:",omitempty"`
	BinaryValue []byte `json:",omitempty"`
}

// value returns the attribute's value as text.
func (a attribute) value() string {
	if a.BinaryValue != nil {
		return base64.StdEncoding.EncodeToString(a.BinaryValue)
	}
	return a.StringValue
}

// The types of messages.
const (
	typeNotification  = "Notification"
	typeConfirmation  = "SubscriptionConfirmation"
	typeUnsubscribing = "UnsubscribeConfirmation"
)

// message is a message of a topic, as it is stored while it is being delivered.
type message struct {
	Type, ID, Topic string
	Subject         string               `json:",omitempty"`
	Body            string               // for protocols without a separate text
	ByProtocol      map[string]string    `json:",omitempty"`
	Attributes      map[string]attribute `json:",omitempty"`
	Group           string               `json:",omitempty"`
	Deduplication   string               `json:",omitempty"`
	Sequence        string               `json:",omitempty"` // of FIFO topics
	Token           string               `json:",omitempty"` // of confirmations
	Time            time.Time
	Signing         string            `json:",omitempty"` // the signature version; empty means unsigned
	Signatures      map[string]string `json:",omitempty"` // by protocol whose text was signed; "" means Body
	Trace           string            `json:",omitempty"`

	shared bool // several deliveries read it, so it must not change any more

	bodyParsed, attributesParsed bool
	bodyValue, attributesValue   jsonvalue.Value
}

// body returns the text for a protocol.
func (m *message) body(protocol string) string {
	if text, ok := m.ByProtocol[protocol]; ok {
		return text
	}
	return m.Body
}

// signed returns the bytes that the signature of a message covers.
func (m *message) signed(body, subscribeURL string) []byte {
	var b []byte
	line := func(name, value string) { b = append(append(append(append(b, name...), '\n'), value...), '\n') }
	line("Message", body)
	line("MessageId", m.ID)
	if m.Type == typeNotification {
		if m.Subject != "" {
			line("Subject", m.Subject)
		}
	} else {
		line("SubscribeURL", subscribeURL)
	}
	line("Timestamp", timeText(m.Time))
	if m.Type != typeNotification {
		line("Token", m.Token)
	}
	line("TopicArn", m.Topic)
	line("Type", m.Type)
	return b
}

// confirmURL returns the URL that confirms a subscription.
func (s *Service) confirmURL(m *message) string {
	if m.Token == "" {
		return ""
	}
	return s.opts.Endpoint + "/?Action=ConfirmSubscription&TopicArn=" + m.Topic + "&Token=" + m.Token
}

func (s *Service) unsubscribeURL(sub *subscription) string {
	return s.opts.Endpoint + "/?Action=Unsubscribe&SubscriptionArn=" + sub.ARN
}

// signature returns the signature of a message for a protocol. Each different text of the message is signed only
// once.
func (s *Service) signature(m *message, protocol string) (string, error) {
	if m.Signing == "" {
		return "", nil
	}
	if _, own := m.ByProtocol[protocol]; !own {
		protocol = ""
	}
	if done, ok := m.Signatures[protocol]; ok {
		return done, nil
	}
	text, err := s.signer.sign(m.Signing, m.signed(m.body(protocol), s.confirmURL(m)), s.clock.Now())
	if err != nil || m.shared {
		return text, err
	}
	if m.Signatures == nil {
		m.Signatures = map[string]string{}
	}
	m.Signatures[protocol] = text
	return text, nil
}

// envelope returns the JSON for subscriptions without raw message delivery. The members have SNS's order and layout.
func (s *Service) envelope(m *message, sub *subscription) (string, error) {
	body := m.body(sub.Protocol)
	signature, err := s.signature(m, sub.Protocol)
	if err != nil {
		return "", err
	}
	b := append(make([]byte, 0, len(body)+1200), '{')
	add := func(name, value string) {
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = append(append(append(b, "\n  \""...), name...), "\" : "...)
		b = jsonvalue.AppendQuoted(b, value)
	}
	optional := func(name, value string) {
		if value != "" {
			add(name, value)
		}
	}
	add("Type", m.Type)
	add("MessageId", m.ID)
	optional("SequenceNumber", m.Sequence)
	optional("Token", m.Token)
	add("TopicArn", m.Topic)
	optional("Subject", m.Subject)
	add("Message", body)
	optional("SubscribeURL", s.confirmURL(m))
	add("Timestamp", timeText(m.Time))
	if m.Signing != "" {
		add("SignatureVersion", m.Signing)
		add("Signature", signature)
		add("SigningCertURL", s.signer.url(s.opts.Endpoint))
	}
	if m.Type == typeNotification {
		add("UnsubscribeURL", s.unsubscribeURL(sub))
	}
	if len(m.Attributes) > 0 {
		b = append(b, ",\n  \"MessageAttributes\" : {"...)
		for i, name := range slices.Sorted(maps.Keys(m.Attributes)) {
			if i > 0 {
				b = append(b, ',')
			}
			a := m.Attributes[name]
			b = append(jsonvalue.AppendQuoted(append(b, "\n    "...), name), " : {\"Type\":"...)
			b = append(jsonvalue.AppendQuoted(b, a.DataType), ",\"Value\":"...)
			b = append(jsonvalue.AppendQuoted(b, a.value()), '}')
		}
		b = append(b, "\n  }"...)
	}
	return string(append(b, "\n}"...)), nil
}

// functionEvent returns the event for a function.
func (s *Service) functionEvent(m *message, sub *subscription) (string, error) {
	body := m.body(sub.Protocol)
	signature, err := s.signature(m, sub.Protocol)
	if err != nil {
		return "", err
	}
	text := jsonvalue.OfString
	attributes := jsonvalue.NewObject(len(m.Attributes))
	for _, name := range slices.Sorted(maps.Keys(m.Attributes)) {
		a := jsonvalue.NewObject(2)
		a.Set("Type", text(m.Attributes[name].DataType))
		a.Set("Value", text(m.Attributes[name].value()))
		attributes.Set(name, a.Value())
	}
	n := jsonvalue.NewObject(12)
	n.Set("Type", text(m.Type))
	n.Set("MessageId", text(m.ID))
	n.Set("TopicArn", text(m.Topic))
	n.Set("Subject", jsonvalue.Value{})
	if m.Subject != "" {
		n.Set("Subject", text(m.Subject))
	}
	n.Set("Message", text(body))
	n.Set("Timestamp", text(timeText(m.Time)))
	n.Set("SignatureVersion", text(m.Signing))
	n.Set("Signature", text(signature))
	n.Set("SigningCertUrl", text(s.signer.url(s.opts.Endpoint)))
	n.Set("UnsubscribeUrl", text(s.unsubscribeURL(sub)))
	n.Set("MessageAttributes", attributes.Value())
	r := jsonvalue.NewObject(4)
	r.Set("EventSource", text("aws:sns"))
	r.Set("EventVersion", text("1.0"))
	r.Set("EventSubscriptionArn", text(sub.ARN))
	r.Set("Sns", n.Value())
	e := jsonvalue.NewObject(1)
	e.Set("Records", jsonvalue.OfArray([]jsonvalue.Value{r.Value()}))
	return e.Value().JSON(), nil
}
