package server

import (
	"encoding/json"
	"net/http"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// fault is an error together with its properties from the model.
type fault struct {
	error  *aws.Error
	shape  *model.Shape // nil if the model does not contain it
	code   string       // the shape's name
	query  string       // the code in Query and XML
	status int
}

// typed returns the __type of the error for a service whose own errors have a namespace: the error's code behind that,
// or behind the namespace of the framework that checks requests. If namespace is empty, it returns the code.
func (f *fault) typed(namespace string) string {
	switch {
	case namespace == "":
		return f.code
	case f.shape != nil:
		return namespace + "#" + f.code
	case f.code == "ValidationException":
		return "com.amazon.coral.validate#" + f.code
	}
	return "com.amazon.coral.service#" + f.code
}

// sender returns which side is at fault, in Query's terms: Sender or Receiver.
func (f *fault) sender() string {
	if f.status >= http.StatusInternalServerError {
		return "Receiver"
	}
	return "Sender"
}

// document returns the document of the error; it has a message even if the model has none.
func (f *fault) document() jsonvalue.Value {
	message := "message"
	b := jsonvalue.NewObject(1 + len(f.error.Members))
	if f.shape != nil {
		for _, m := range f.shape.Members {
			if m.Name == "message" || m.Name == "Message" || m.Name == "errorMessage" {
				message = m.Name
			}
		}
	}
	if _, own := f.error.Members["Message"]; f.error.Message != "" && !own {
		b.Set(message, jsonvalue.OfString(f.error.Message))
	}
	if f.shape != nil && f.shape.Member("Type") != nil && f.error.Members["Type"] == nil { // as in Lambda's errors
		who := "User"
		if f.status >= http.StatusInternalServerError {
			who = "Service"
		}
		b.Set("Type", jsonvalue.OfString(who))
	}
	text, err := json.Marshal(f.error.Members)
	if err != nil || len(f.error.Members) == 0 {
		return b.Value()
	}
	v := b.Value()
	members, err := jsonvalue.Parse(string(text))
	if err != nil {
		return v
	}
	for i, name := range members.Keys() {
		v = v.With(name, members.At(i))
	}
	return v
}

// abridged shortens a message that may quote a long value.
func abridged(message string) string {
	const enough = 300
	if len(message) <= enough {
		return message
	}
	return message[:enough] + "…"
}
