package local

import (
	"context"

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
