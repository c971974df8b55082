package server

import (
	"encoding/json"
	"net/http"

	"stepback/aws"
	"stepback/aws/model"
	"stepback/jsonvalue"
)

// fault is an error with what the model says of it.
type fault struct {
	error  *aws.Error
	shape  *model.Shape // nil for one that the model does not have
	code   string       // the shape's name
	query  string       // the code in Query and XML
	status int
}

// sender is who is to blame, in the words of Query.
func (f *fault) sender() string {
	if f.status >= http.StatusInternalServerError {
		return "Receiver"
	}
	return "Sender"
}

// document is the document of the error's shape, and the shape; messages are there even where the model has none.
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
	if f.error.Message != "" {
		b.Set(message, jsonvalue.OfString(f.error.Message))
	}
	if f.shape != nil && f.shape.Member("Type") != nil && f.error.Members["Type"] == nil { // as Lambda's errors have it
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

// abridged is a message without most of a long value that it may quote.
func abridged(message string) string {
	const enough = 300
	if len(message) <= enough {
		return message
	}
	return message[:enough] + "…"
}
