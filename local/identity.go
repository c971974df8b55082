package local

import (
	"context"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/endpoint"
	"stepback/local/services/iam"
	"stepback/local/services/sts"
)

// openIdentity opens IAM and STS.
func (p *Platform) openIdentity(context.Context) error {
	p.roles = iam.New(iam.Options{Documents: p.Documents, Clock: p.Clock, Scope: p.Scope, Log: p.cfg.Log})
	p.offer(served{model: "iam", about: "roles, users, groups and policies",
		Service: endpoint.Service{Name: "IAM", Signing: "iam", Handler: lazily(p.roles.Handler)}})
	p.offer(served{model: "sts", about: "the caller's identity, and sessions of roles",
		Service: endpoint.Service{Name: "STS", Signing: "sts", Handler: lazily(func() *server.Service {
			return sts.New(sts.Options{Documents: p.Documents, Roles: p.roles, Clock: p.Clock, Scope: p.Scope,
				Log: p.cfg.Log})
		})}})
	return nil
}

// principal returns the ARN of the user or role that makes a request with a context of package server; a session of a
// role counts as the role. Other keys belong to the account's root user.
func (p *Platform) principal(ctx context.Context, scope aws.Scope) (string, error) {
	return p.principalOf(server.CallerKey(ctx), scope)
}

// principalOf returns the ARN of the user or role that an access key belongs to, as principal does.
func (p *Platform) principalOf(key string, scope aws.Scope) (string, error) {
	c, found, err := sts.CallerOf(p.Documents, key)
	if err != nil {
		return "", err
	}
	if arn, ok := aws.ParseARN(c.ARN); found && ok {
		if session, ok := strings.CutPrefix(arn.Resource, "assumed-role/"); ok {
			role, _, _ := strings.Cut(session, "/")
			return aws.Scope{Account: c.Account}.GlobalARN("iam", "role/"+role), nil
		}
		return c.ARN, nil
	}
	arn, _, found, err := p.roles.Signer(scope.Account, key)
	if err != nil || found {
		return arn, err
	}
	return scope.GlobalARN("iam", "root"), nil
}
