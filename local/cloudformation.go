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
		API: func(scope aws.Scope, role string) cloudformation.API {
			return platformAPI{p: p, scope: scope, role: role, session: "AWSCloudFormation"}
		},
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
	// role is the role with which the calls are made if roles are enforced; empty means the account itself. session
	// is the name of the role's session.
	role, session string
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
	ctx, keys, err := a.p.around.guard.withRole(ctx, a.role, a.session)
	if err != nil {
		return err
	}
	c := a.caller(service)
	c.AccessKey = keys.Key
	ctx = aws.WithSystemTags(ctx)
	return c.Call(ctx, service, operation, in, out)
}

// Object implements cloudformation.API.
func (a platformAPI) Object(ctx context.Context, bucket, key, version string) ([]byte, error) {
	return a.caller("s3").Object(ctx, bucket, key, version)
}
