package sts

import (
	"context"
	"log/slog"

	"stepback/aws"
	"stepback/aws/server"
)

// New returns STS. Requests that name no account and region are about the default ones.
func New(defaults aws.Scope, log *slog.Logger) *server.Service {
	return server.Must(server.Config{
		Model: "sts", Default: defaults, Log: log,
		Operations: map[string]server.Operation{"GetCallerIdentity": server.Handle(getCallerIdentity)},
	})
}

type identity struct {
	UserID  string `json:"UserId"`
	Account string
	ARN     string `json:"Arn"`
}

// getCallerIdentity tells the identity of a caller with the credentials of an account: its root user.
func getCallerIdentity(_ context.Context, scope aws.Scope, _ *struct{}) (*identity, error) {
	return &identity{UserID: scope.Account, Account: scope.Account, ARN: scope.GlobalARN("iam", "root")}, nil
}
