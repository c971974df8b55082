package local

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"

	"stepback/aws"
	"stepback/local/endpoint"
	"stepback/local/services/kms"
	"stepback/local/services/secretsmanager"
	"stepback/tasks/lambda/invocation"
)

// openSecrets opens KMS, and Secrets Manager with its keys.
func (p *Platform) openSecrets(context.Context) error {
	p.Keys = kms.New(kms.Options{Dir: filepath.Join(p.Dir, "kms"), Documents: p.Documents, Clock: p.Clock, Scope: p.Scope,
		Log: p.cfg.Log})
	p.offer(served{model: "kms", about: "keys whose material is in " + filepath.Join(p.Dir, "kms"),
		Service: endpoint.Service{Name: "KMS", Signing: "kms", Target: "TrentService", Handler: lazily(p.Keys.Handler)}})
	secrets := secretsmanager.New(secretsmanager.Options{Documents: p.Documents, Clock: p.Clock, Scope: p.Scope,
		Secrets: kms.Secrets{Service: p.Keys, Context: "SecretARN"}, Invoke: p.invokeForRotation,
		Invocable: p.invocable, Log: p.cfg.Log})
	p.secrets = secrets
	p.onClose(secrets.Close)
	p.offer(served{model: "secretsmanager", about: "secrets, encrypted under the keys of KMS",
		Service: endpoint.Service{Name: "Secrets Manager", Signing: "secretsmanager", Target: "secretsmanager",
			Handler: lazily(secrets.Handler)}})
	return nil
}

// invocable reports whether a function exists. It returns true if this platform cannot tell, because functions may
// run elsewhere.
func (p *Platform) invocable(scope aws.Scope, function string) bool {
	if p.cfg.LambdaEndpoint != "" || p.cfg.Beside != nil || p.cfg.StandIns != nil {
		return true
	}
	qualifier := ""
	if arn, ok := aws.ParseARN(function); ok && arn.Service == "lambda" {
		scope = arn.Scope()
		function, qualifier, _ = strings.Cut(strings.TrimPrefix(arn.Resource, "function:"), ":")
	}
	_, err := p.Functions.Get(scope, function, qualifier)
	return err == nil
}

// invokeForRotation calls a function that rotates a secret.
func (p *Platform) invokeForRotation(ctx context.Context, scope aws.Scope, function string, payload []byte) error {
	a, err := p.invoker(scope).Invoke(ctx, &invocation.Request{FunctionName: function, Payload: payload})
	if err == nil && a.FunctionError != "" {
		err = fmt.Errorf("%s: %s", a.FunctionError, a.Payload)
	}
	return err
}
