package teststate

import (
	"stepback/aws/model"
	"stepback/aws/server"
	"stepback/jsonvalue"
)

// Bytes names the shapes of the API's model whose length is counted in UTF-8 bytes instead of characters.
var Bytes = []string{"SensitiveData"}

// Decode returns the request in a document, for callers that do not serve the API over HTTP. The error is that of the
// API if the document violates the API's model, such as a ValidationException for an unknown inspectionLevel. Members
// that the API does not have are ignored, as by AWS.
func Decode(document jsonvalue.Value) (*Request, error) {
	s, err := model.Find("sfn")
	if err != nil {
		return nil, err
	}
	o, err := s.Operation("TestState")
	if err != nil {
		return nil, err
	}
	if err := server.CheckInput(o, server.Words{Bytes: Bytes}, document); err != nil {
		return nil, err
	}
	in := new(Request)
	if err := server.Fill(in, document); err != nil {
		return nil, err
	}
	return in, nil
}
