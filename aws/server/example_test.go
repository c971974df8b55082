package server_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
)

// secret holds the members that GetSecretValue uses.
type secret struct {
	ID string `json:"SecretId"`
}

// secretValue is the output of GetSecretValue.
type secretValue struct {
	ARN, Name, SecretString string
}

// A new embedded service needs the name of its model, a function for each operation, and errors by their shapes' names.
func Example() {
	values := map[string]string{"database": "hunter2"}
	secrets := server.Must(server.Config{
		Model:   "secretsmanager",
		Default: aws.Scope{Account: "000000000000", Region: "us-east-1"},
		Operations: map[string]server.Operation{
			"GetSecretValue": server.Handle(func(_ context.Context, s aws.Scope, in *secret) (*secretValue, error) {
				value, ok := values[in.ID]
				if !ok {
					return nil, &aws.Error{Code: "ResourceNotFoundException",
						Message: "Secrets Manager can't find the specified secret."}
				}
				return &secretValue{s.ARN("secretsmanager", "secret:"+in.ID), in.ID, value}, nil
			}),
		},
	})
	ask := func(operation, body string) {
		r := httptest.NewRequest(http.MethodPost, "/", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/x-amz-json-1.1")
		r.Header.Set("X-Amz-Target", "secretsmanager."+operation)
		w := httptest.NewRecorder()
		secrets.ServeHTTP(w, r)
		text, _ := io.ReadAll(w.Body)
		fmt.Printf("%d %s\n", w.Code, text)
	}
	ask("GetSecretValue", `{"SecretId":"database"}`)
	ask("GetSecretValue", `{"SecretId":"mail"}`)
	ask("GetSecretValue", `{}`)
	ask("RotateSecret", `{"SecretId":"database"}`)
	// Output:
	// 200 {"ARN":"arn:aws:secretsmanager:us-east-1:000000000000:secret:database","Name":"database","SecretString":"hunter2"}
	// 400 {"__type":"ResourceNotFoundException","Message":"Secrets Manager can't find the specified secret."}
	// 400 {"__type":"ValidationException","message":"1 validation error detected: Value null at 'secretId' failed to satisfy constraint: Member must not be null"}
	// 501 {"__type":"NotImplemented","message":"The operation RotateSecret of Secrets Manager is not served here. Those that are: stepback services secretsmanager, docs/services.md."}
}
