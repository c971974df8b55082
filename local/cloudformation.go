package local

import (
	"context"
	"net/http"
	"strings"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/aws/model"
	"stepback/aws/server"
	"stepback/local/endpoint"
	"stepback/local/services/cloudformation"
	"stepback/local/services/cloudformation/resource"
)

// openStacks opens CloudFormation, which creates resources through the services of this platform, or through those
// that the environment names (AWS_ENDPOINT_URL_SSM and so on).
func (p *Platform) openStacks(context.Context) (err error) {
	p.Stacks, err = cloudformation.Open(cloudformation.Options{
		Documents: p.Documents, Clock: p.Clock, Endpoint: p.Endpoint, Scope: p.Scope, Log: p.cfg.Log,
		API: func(scope aws.Scope, as resource.Identity) cloudformation.API {
			return platformAPI{p: p, scope: scope, as: as, session: "AWSCloudFormation"}
		},
		Caller: p.callerKey,
	})
	if err != nil {
		return err
	}
	p.onClose(p.Stacks.Close)
	api := lazily(func() *server.Service { return p.Stacks.Handler() })
	responses := p.Stacks.Responses()
	p.offer(served{model: "cloudformation", about: "stacks, created through the services at this address",
		covers: func() server.Coverage { return api.made().Coverage() },
		Service: endpoint.Service{Name: "CloudFormation", Signing: "cloudformation",
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, cloudformation.ResponsePath) {
					responses.ServeHTTP(w, r)
					return
				}
				api.ServeHTTP(w, r)
			})}})
	return nil
}

// platformAPI calls the services of the platform for one account and region.
type platformAPI struct {
	p     *Platform
	scope aws.Scope
	// as says with whose permissions the calls are made if policies are enforced. session is the name of the session
	// of its role.
	as      resource.Identity
	session string
}

// callerKey returns the access key of the client whose request ctx belongs to; empty if policies are not enforced, or
// if the client is the account's root user.
func (p *Platform) callerKey(ctx context.Context, scope aws.Scope) string {
	g, key := p.around.guard, server.CallerKey(ctx)
	if g == nil || key == "" {
		return ""
	}
	if a, err := g.callerOf(key, scope); a == nil && err == nil {
		return ""
	}
	return key
}

// caller returns a caller for a service, at the endpoint that tasks of state machines would use.
func (a platformAPI) caller(service string) *resource.Caller {
	if s, err := model.Find(service); err == nil {
		if url := a.p.cfg.Getenv(model.EndpointVariable(s.ID)); url != "" {
			return &resource.Caller{Endpoint: url, Scope: a.scope}
		}
	}
	return &resource.Caller{Endpoint: a.p.Endpoint, HTTP: loopback.Client(a.p.handler), Scope: a.scope}
}

// Call implements resource.API.
func (a platformAPI) Call(ctx context.Context, service, operation string, in, out any) error {
	ctx, c, err := a.acting(ctx, service)
	if err != nil {
		return err
	}
	return c.Call(aws.WithSystemTags(ctx), service, operation, in, out)
}

// Object implements cloudformation.API.
func (a platformAPI) Object(ctx context.Context, bucket, key, version string) ([]byte, error) {
	ctx, c, err := a.acting(ctx, "s3")
	if err != nil {
		return nil, err
	}
	return c.Object(ctx, bucket, key, version)
}

// acting returns a caller for a service that acts as a.as, and the context for its calls.
func (a platformAPI) acting(ctx context.Context, service string) (context.Context, *resource.Caller, error) {
	g, c := a.p.around.guard, a.caller(service)
	if a.as.Role == "" {
		c.AccessKey = a.as.Caller
		ctx, err := g.withCaller(ctx, a.as.Caller, a.scope)
		return ctx, c, err
	}
	ctx, keys, err := g.withRole(ctx, a.as.Role, a.session)
	c.AccessKey = keys.Key
	return ctx, c, err
}
