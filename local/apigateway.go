package local

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/local/endpoint"
	"stepback/local/services/apigateway"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/logs/logstore"
)

// openGateway opens API Gateway, whose integrations call the services of this platform.
func (p *Platform) openGateway(context.Context) (err error) {
	p.Gateway, err = apigateway.Open(apigateway.Options{Store: p.Documents, Now: p.Clock.Now, Scope: p.Scope,
		Functions: p.Functions, AccessLog: p.accessLog, Endpoint: p.Endpoint, Count: p.gatewayCounts, Log: p.cfg.Log,
		Proxy: p.cfg.Targets.Transport(), Targets: &p.Targets, API: func(scope aws.Scope, role string) apigateway.API {
			return platformAPI{p: p, scope: scope, as: resource.Identity{Role: role}, session: "BackplaneAssumeRoleSession"}
		}})
	if err != nil {
		return err
	}
	api := lazily(p.Gateway.Handler)
	p.offer(served{model: "apigatewayv2", about: "HTTP APIs, at ID.execute-api.localhost; in " + filepath.Join(p.Dir, "documents"),
		covers: func() server.Coverage { return api.made().Coverage() },
		Service: endpoint.Service{Name: "API Gateway", Signing: "apigateway", Host: apigateway.IsHost,
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				switch {
				case apigateway.Invokes(r):
					p.Gateway.ServeHTTP(w, r)
				case strings.HasPrefix(r.URL.Path, "/v2/"):
					api.ServeHTTP(w, r)
				default:
					refuseREST(w)
				}
			})}})
	return nil
}

// accessLog writes a line of an access log.
func (p *Platform) accessLog(group aws.ARN, stream, line string) error {
	name, ok := strings.CutPrefix(group.Resource, "log-group:")
	if group.Service != "logs" || !ok {
		return fmt.Errorf("%s is no log group", group)
	}
	event := logstore.Event{Time: p.Clock.Now().UnixMilli(), Message: line}
	return p.Logs.Append(group.Scope(), name, stream, []logstore.Event{event})
}

// refuseREST responds that the first version of the API is not implemented: both versions have the same name in
// signatures.
func refuseREST(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Amzn-Errortype", "NotImplemented")
	w.WriteHeader(http.StatusNotImplemented)
	text, err := json.Marshal(struct {
		Type    string `json:"__type"`
		Message string `json:"message"`
	}{"NotImplemented", "REST APIs of API Gateway are not served here; HTTP APIs are (apigatewayv2)."})
	if err == nil {
		_, _ = w.Write(text) // fails only if the client has gone
	}
}

// gatewayCounts records a metric of an API and its stage, as AWS/ApiGateway does.
func (p *Platform) gatewayCounts(scope aws.Scope, api, stage, metric, unit string, value float64) {
	of := measure{scope: scope, namespace: "AWS/ApiGateway", dimension: "ApiId", resource: api}
	p.meter.add(of, p.Clock.Now(), metric, unit, value)
	of.stage = stage
	p.meter.add(of, p.Clock.Now(), metric, unit, value)
}
