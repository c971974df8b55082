package apigateway_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	client "github.com/aws/aws-sdk-go-v2/service/apigatewayv2"
	"github.com/aws/aws-sdk-go-v2/service/apigatewayv2/types"
	"github.com/aws/smithy-go"
	"github.com/cockroachdb/pebble/v2/vfs"

	"stepback/aws"
	"stepback/aws/loopback"
	"stepback/local/services/apigateway"
	"stepback/local/services/documents"
	"stepback/tasks/lambda/invocation"
)

const (
	function = "arn:aws:lambda:eu-west-1:111111111111:function:greets"
	machine  = "arn:aws:states:eu-west-1:111111111111:stateMachine:m"
)

// bench is a service on an in-memory disk, with AWS's client for it, a function and the other services.
type bench struct {
	*client.Client
	t       *testing.T
	disk    *vfs.MemFS
	store   *documents.Store
	service *apigateway.Service

	events  []string               // received by the function
	returns func() (string, error) // the function's result
	calls   []string               // to other services
	refuse  error
	logged  []string
}

func newBench(t *testing.T) *bench {
	t.Helper()
	b := &bench{t: t, disk: vfs.NewCrashableMem(), returns: func() (string, error) { return `"hello"`, nil }}
	b.open()
	t.Cleanup(func() { _ = b.store.Close() })
	return b
}

func (b *bench) open() {
	b.t.Helper()
	var err error
	if b.store, err = documents.Open("/documents", b.disk); err != nil {
		b.t.Fatal(err)
	}
	b.service, err = apigateway.Open(apigateway.Options{Store: b.store, Functions: b,
		AccessLog: func(to aws.ARN, _, line string) error {
			b.logged = append(b.logged, to.Resource+" "+line)
			return nil
		},
		API: func(aws.Scope, string) apigateway.API { return b }, Endpoint: "http://127.0.0.1:4566",
		Now:   func() time.Time { return time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC) },
		Proxy: loopback.Client(http.HandlerFunc(serves)).Transport})
	if err != nil {
		b.t.Fatal(err)
	}
	b.Client = client.New(client.Options{Region: "eu-west-1", BaseEndpoint: sdkaws.String("http://api"),
		HTTPClient: loopback.Client(b.service.Handler()), Retryer: sdkaws.NopRetryer{},
		Credentials: credentials.NewStaticCredentialsProvider("111111111111", "s", "")})
}

// crash reopens the service with what was on disk at a loss of power.
func (b *bench) crash() {
	b.t.Helper()
	b.disk = b.disk.CrashClone(vfs.CrashCloneCfg{})
	_ = b.store.Close()
	b.open()
}

// serves is the HTTP server of an HTTP_PROXY integration.
func serves(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-From", "server")
	w.WriteHeader(http.StatusAccepted)
	body, _ := io.ReadAll(r.Body)
	_, _ = fmt.Fprintf(w, "%s %s %s %s %s", r.Method, r.Host, r.URL.RequestURI(), r.Header.Get("X-Added"), body)
}

// Invoke implements apigateway.Functions.
func (b *bench) Invoke(_ context.Context, scope aws.Scope, r *invocation.Request) (*invocation.Answer, error) {
	b.events = append(b.events, scope.Region+" "+r.FunctionName+" "+string(r.Payload))
	text, err := b.returns()
	return &invocation.Answer{Payload: []byte(text)}, err
}

// Call implements apigateway.API.
func (b *bench) Call(_ context.Context, service, operation string, in, out any) error {
	text, err := json.Marshal(in)
	b.calls = append(b.calls, service+":"+operation+" "+string(text))
	if err != nil || b.refuse != nil {
		return errors.Join(err, b.refuse)
	}
	return json.Unmarshal([]byte(`{"executionArn":"arn:x"}`), out)
}

// api creates an API with the default stage.
func (b *bench) api(cors *types.Cors) string {
	b.t.Helper()
	a, err := b.CreateApi(b.t.Context(), &client.CreateApiInput{Name: sdkaws.String("orders"),
		ProtocolType: types.ProtocolTypeHttp, CorsConfiguration: cors})
	if err != nil {
		b.t.Fatal(err)
	}
	if want := "http://" + *a.ApiId + ".execute-api.localhost:4566"; *a.ApiEndpoint != want {
		b.t.Errorf("the endpoint is %s, want %s", *a.ApiEndpoint, want)
	}
	if _, err := b.CreateStage(b.t.Context(), &client.CreateStageInput{ApiId: a.ApiId, StageName: sdkaws.String("$default"),
		AutoDeploy: sdkaws.Bool(true), StageVariables: map[string]string{"color": "red"}}); err != nil {
		b.t.Fatal(err)
	}
	return *a.ApiId
}

func (b *bench) integrate(api string, in *client.CreateIntegrationInput) string {
	b.t.Helper()
	in.ApiId = &api
	i, err := b.CreateIntegration(b.t.Context(), in)
	if err != nil {
		b.t.Fatal(err)
	}
	return *i.IntegrationId
}

func (b *bench) route(api, key, integration string) {
	b.t.Helper()
	if _, err := b.CreateRoute(b.t.Context(), &client.CreateRouteInput{ApiId: &api, RouteKey: &key,
		Target: sdkaws.String("integrations/" + integration)}); err != nil {
		b.t.Fatal(err)
	}
}

// ask calls an API at its host.
func (b *bench) ask(api, method, target, body string, header ...string) *httptest.ResponseRecorder {
	b.t.Helper()
	r := httptest.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(body))
	if api != "" {
		r.Host = api + ".execute-api.localhost:4566"
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	b.service.ServeHTTP(w, r)
	return w
}

func (b *bench) expect(w *httptest.ResponseRecorder, status int, body string) {
	b.t.Helper()
	if w.Code != status || strings.TrimSpace(w.Body.String()) != body {
		b.t.Errorf("answered %d %s, want %d %s", w.Code, w.Body, status, body)
	}
}

func codeOf(err error) string {
	var e smithy.APIError
	if errors.As(err, &e) {
		return e.ErrorCode() + ": " + e.ErrorMessage()
	}
	return fmt.Sprint(err)
}

func TestAFunctionAnswersInFormat2(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	api := b.api(nil)
	i := b.integrate(api, &client.CreateIntegrationInput{IntegrationType: types.IntegrationTypeAwsProxy,
		IntegrationUri: sdkaws.String(function), PayloadFormatVersion: sdkaws.String("2.0")})
	b.route(api, "POST /orders/{id}", i)
	b.expect(
		b.ask(
			api,
			"POST",
			"/orders/a%20b?x=1&x=2",
			`{"n":1}`,
			"Content-Type",
			"application/json",
			"Cookie",
			"a=1; b=2",
		),
		200,
		`"hello"`,
	)
	region, event, _ := strings.Cut(b.events[0], " greets ")
	var got struct {
		Version, RouteKey, RawPath, RawQueryString, Body string
		Cookies                                          []string
		QueryStringParameters, PathParameters            map[string]string
		StageVariables                                   map[string]string
		RequestContext                                   struct {
			AccountID, APIID, DomainPrefix, Stage, RouteKey, Time string
			HTTP                                                  struct{ Method, Path string }
		}
	}
	if err := json.Unmarshal([]byte(event), &got); err != nil {
		t.Fatal(err)
	}
	c := got.RequestContext
	if region != "eu-west-1" || got.Version != "2.0" || got.RouteKey != "POST /orders/{id}" || got.RawPath != "/orders/a b" ||
		got.RawQueryString != "x=1&x=2" || got.Body != `{"n":1}` || len(got.Cookies) != 2 ||
		got.QueryStringParameters["x"] != "1,2" || got.PathParameters["id"] != "a b" || got.StageVariables["color"] != "red" ||
		c.AccountID != "111111111111" || c.APIID != api ||
		c.DomainPrefix != api ||
		c.Stage != "$default" ||
		c.HTTP.Method != http.MethodPost ||
		c.HTTP.Path != "/orders/a b" ||
		c.Time != "23/Nov/2026:08:00:00 +0000" {
		t.Errorf("the function was given %s", event)
	}
	b.returns = func() (string, error) {
		return `{"statusCode":201,"headers":{"X-A":"b"},"cookies":["c=1"],"body":"made"}`, nil
	}
	w := b.ask(api, "POST", "/orders/1", "")
	b.expect(w, 201, "made")
	if w.Header().Get("X-A") != "b" || w.Header().Get("Set-Cookie") != "c=1" {
		t.Errorf("headers %v", w.Header())
	}
	b.returns = func() (string, error) { return `{"statusCode":"no"}`, nil }
	b.expect(b.ask(api, "POST", "/orders/1", ""), 500, `{"message":"Internal Server Error"}`)
	b.returns = func() (string, error) { return "", context.DeadlineExceeded }
	b.expect(b.ask(api, "POST", "/orders/1", ""), 503, `{"message":"Service Unavailable"}`)
	b.expect(b.ask(api, "GET", "/orders/1", ""), 404, `{"message":"Not Found"}`)
	b.expect(b.ask("abcdefghij", "GET", "/orders/1", ""), 404, `{"message":"Not Found"}`)
}

func TestAFunctionAnswersInFormat1(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	api := b.api(nil)
	i := b.integrate(api, &client.CreateIntegrationInput{IntegrationType: types.IntegrationTypeAwsProxy,
		IntegrationUri: sdkaws.String(
			"arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/" + function + "/invocations",
		),
		PayloadFormatVersion: sdkaws.String("1.0")})
	b.route(api, "$default", i)
	if _, err := b.CreateStage(t.Context(), &client.CreateStageInput{ApiId: &api, StageName: sdkaws.String("prod"),
		AutoDeploy: sdkaws.Bool(true)}); err != nil {
		t.Fatal(err)
	}
	b.returns = func() (string, error) {
		return `{"statusCode":200,"multiValueHeaders":{"X-M":["1","2"]},"body":"aGk=","isBase64Encoded":true}`, nil
	}
	w := b.ask("", "GET", "/_aws/execute-api/"+api+"/prod/a/b?x=1&x=2", "")
	b.expect(w, 200, "hi")
	if got := w.Header().Values("X-M"); len(got) != 2 {
		t.Errorf("X-M is %v", got)
	}
	_, event, _ := strings.Cut(b.events[0], " greets ")
	for _, want := range []string{`"version":"1.0"`, `"path":"/prod/a/b"`, `"resource":"$default"`, `"httpMethod":"GET"`, `"stage":"prod"`,
		`"queryStringParameters":{"x":"2"}`, `"multiValueQueryStringParameters":{"x":["1","2"]}`, `"pathParameters":null`, `"body":null`} {
		if !strings.Contains(event, want) {
			t.Errorf("%s is not in %s", want, event)
		}
	}
	b.returns = func() (string, error) { return `{"hello":1}`, nil }
	b.expect(b.ask(api, "GET", "/prod/x", ""), 500, `{"message":"Internal Server Error"}`)
}

func TestServicesAreCalled(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	api := b.api(nil)
	service := func(key, subtype string, parameters map[string]string) {
		t.Helper()
		b.route(
			api,
			key,
			b.integrate(api, &client.CreateIntegrationInput{IntegrationType: types.IntegrationTypeAwsProxy,
				IntegrationSubtype: &subtype, PayloadFormatVersion: sdkaws.String("1.0"), RequestParameters: parameters,
				CredentialsArn: sdkaws.String("arn:aws:iam::111111111111:role/api")}),
		)
	}
	service(
		"POST /start",
		"StepFunctions-StartExecution",
		map[string]string{"StateMachineArn": machine, "Input": "$request.body",
			"Name": "$request.header.x-name"},
	)
	service("POST /part/{id}", "StepFunctions-StartSyncExecution", map[string]string{"StateMachineArn": machine,
		"Input": "$request.body.order", "Name": "o-${request.path.id}-${stageVariables.color}"})
	service(
		"GET /queue",
		"SQS-SendMessage",
		map[string]string{"QueueUrl": "http://q/1/jobs", "MessageBody": "$request.querystring.m",
			"DelaySeconds": "$request.querystring.delay"},
	)
	service(
		"POST /event",
		"EventBridge-PutEvents",
		map[string]string{"Source": "shop", "DetailType": "$context.httpMethod",
			"Detail": "$request.body"},
	)
	b.expect(b.ask(api, "POST", "/start", `{"a":1}`, "X-Name", "n1"), 200, `{"executionArn":"arn:x"}`)
	b.expect(b.ask(api, "POST", "/part/7", `{"order":{"b":[1]}}`), 200, `{"executionArn":"arn:x"}`)
	b.expect(b.ask(api, "GET", "/queue?m=hello", ""), 200, `{"executionArn":"arn:x"}`)
	b.expect(b.ask(api, "GET", "/queue", ""), 400, `{"message":"Bad Request"}`)
	b.expect(b.ask(api, "POST", "/event", `{}`), 200, `{"executionArn":"arn:x"}`)
	want := `sfn:StartExecution {"Input":"{\"a\":1}","Name":"n1","StateMachineArn":"` + machine + `"}
sfn:StartSyncExecution {"Input":"{\"b\":[1]}","Name":"o-7-red","StateMachineArn":"` + machine + `"}
sqs:SendMessage {"MessageBody":"hello","QueueUrl":"http://q/1/jobs"}
eventbridge:PutEvents {"Entries":[{"Detail":"{}","DetailType":"POST","Source":"shop"}]}`
	if got := strings.Join(b.calls, "\n"); got != want {
		t.Errorf("called\n%s\nwant\n%s", got, want)
	}
	b.refuse = &smithy.GenericAPIError{Code: "StateMachineDoesNotExist", Message: "no", Fault: smithy.FaultClient}
	b.expect(b.ask(api, "POST", "/start", `{}`), 400, `{"__type":"StateMachineDoesNotExist","message":"no"}`)
	for name, parameters := range map[string]map[string]string{
		"BadRequestException: Parameter: StateMachineArn does not fulfill the required parameters of the integration subtype StepFunctions-StartExecution": {"Input": "x"},
		"BadRequestException: Invalid parameter Colour for integration subtype StepFunctions-StartExecution":                                               {"StateMachineArn": machine, "Colour": "red"},
	} {
		_, err := b.CreateIntegration(
			t.Context(),
			&client.CreateIntegrationInput{ApiId: &api, IntegrationType: types.IntegrationTypeAwsProxy,
				IntegrationSubtype: sdkaws.String(
					"StepFunctions-StartExecution",
				), PayloadFormatVersion: sdkaws.String("1.0"),
				RequestParameters: parameters},
		)
		if codeOf(err) != name {
			t.Errorf("%v, want %s", err, name)
		}
	}
}

func TestAServerAnswers(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	api := b.api(nil)
	i := b.integrate(api, &client.CreateIntegrationInput{IntegrationType: types.IntegrationTypeHttpProxy,
		IntegrationUri: sdkaws.String("http://shop.example/v1/{proxy}"), IntegrationMethod: sdkaws.String("ANY"),
		PayloadFormatVersion: sdkaws.String("1.0"),
		RequestParameters: map[string]string{
			"append:header.x-added":   "$context.apiId",
			"overwrite:querystring.q": "$request.path.proxy",
		},
		ResponseParameters: map[string]map[string]string{
			"202": {"overwrite:statuscode": "200", "remove:header.x-from": "''",
				"append:header.x-stage": "$context.stage"},
		}})
	b.route(api, "ANY /shop/{proxy+}", i)
	w := b.ask(api, "PUT", "/shop/a/b?q=0&r=1", "body")
	b.expect(w, 200, "PUT shop.example /v1/a/b?q=a%2Fb&r=1 "+api+" body")
	if w.Header().Get("X-From") != "" || w.Header().Get("X-Stage") != "$default" {
		t.Errorf("headers %v", w.Header())
	}
}

func TestPagesOfOtherOriginsAsk(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	api := b.api(&types.Cors{AllowOrigins: []string{"https://shop.example"}, AllowMethods: []string{"GET", "POST"},
		AllowHeaders: []string{"x-a"}, MaxAge: sdkaws.Int32(60)})
	i := b.integrate(api, &client.CreateIntegrationInput{IntegrationType: types.IntegrationTypeAwsProxy,
		IntegrationUri: sdkaws.String(function), PayloadFormatVersion: sdkaws.String("2.0")})
	b.route(api, "GET /", i)
	b.returns = func() (string, error) {
		return `{"statusCode":200,"headers":{"Access-Control-Allow-Origin":"*","X-A":"b"}}`, nil
	}
	w := b.ask(api, "OPTIONS", "/", "", "Origin", "https://shop.example", "Access-Control-Request-Method", "GET")
	if h := w.Header(); w.Code != 204 || h.Get("Access-Control-Allow-Methods") != "GET,POST" ||
		h.Get("Access-Control-Max-Age") != "60" ||
		len(b.events) != 0 {
		t.Errorf("%d %v", w.Code, h)
	}
	w = b.ask(api, "GET", "/", "", "Origin", "https://shop.example")
	if h := w.Header(); h.Get("Access-Control-Allow-Origin") != "https://shop.example" || h.Get("X-A") != "b" {
		t.Errorf("%d %v", w.Code, h)
	}
	w = b.ask(api, "GET", "/", "", "Origin", "https://evil.example")
	if h := w.Header(); h.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", w.Code, h)
	}
}

func TestAuthorizersDecide(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	api := b.api(nil)
	i := b.integrate(api, &client.CreateIntegrationInput{IntegrationType: types.IntegrationTypeAwsProxy,
		IntegrationUri: sdkaws.String(function), PayloadFormatVersion: sdkaws.String("2.0")})
	z, err := b.CreateAuthorizer(t.Context(), &client.CreateAuthorizerInput{ApiId: &api, Name: sdkaws.String("z"),
		AuthorizerType: types.AuthorizerTypeRequest, AuthorizerPayloadFormatVersion: sdkaws.String("2.0"),
		EnableSimpleResponses: sdkaws.Bool(true), IdentitySource: []string{"$request.header.Authorization"},
		AuthorizerUri: sdkaws.String(
			"arn:aws:apigateway:eu-west-1:lambda:path/2015-03-31/functions/" + function + "/invocations",
		)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateRoute(t.Context(), &client.CreateRouteInput{ApiId: &api, RouteKey: sdkaws.String("GET /"),
		Target: sdkaws.String("integrations/" + i), AuthorizationType: types.AuthorizationTypeCustom, AuthorizerId: z.AuthorizerId}); err != nil {
		t.Fatal(err)
	}
	b.expect(b.ask(api, "GET", "/", ""), 401, `{"message":"Unauthorized"}`)
	b.returns = func() (string, error) { return `{"isAuthorized":false}`, nil }
	b.expect(b.ask(api, "GET", "/", "", "Authorization", "token"), 403, `{"message":"Forbidden"}`)
	b.returns = func() (string, error) { return `{"isAuthorized":true,"context":{"user":"u"}}`, nil }
	b.ask(api, "GET", "/", "", "Authorization", "token")
	if last := b.events[len(b.events)-1]; !strings.Contains(last, `"authorizer":{"lambda":{"user":"u"}}`) {
		t.Errorf("the function was given %s", last)
	}
	if first := b.events[0]; !strings.Contains(first, `"identitySource":["token"]`) ||
		!strings.Contains(first, `"type":"REQUEST"`) {
		t.Errorf("the authorizer was given %s", first)
	}
}

func TestStagesServeTheirDeployments(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	api := b.api(nil)
	i := b.integrate(api, &client.CreateIntegrationInput{IntegrationType: types.IntegrationTypeAwsProxy,
		IntegrationUri: sdkaws.String(function), PayloadFormatVersion: sdkaws.String("2.0")})
	b.route(api, "GET /one", i)
	d, err := b.CreateDeployment(t.Context(), &client.CreateDeploymentInput{ApiId: &api})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := b.CreateStage(t.Context(), &client.CreateStageInput{ApiId: &api, StageName: sdkaws.String("v1"), DeploymentId: d.DeploymentId,
		AccessLogSettings: &types.AccessLogSettings{DestinationArn: sdkaws.String("arn:aws:logs:eu-west-1:111111111111:log-group:access"),
			Format: sdkaws.String("$context.httpMethod $context.routeKey $context.status $context.nothing")}}); err != nil {
		t.Fatal(err)
	}
	b.route(api, "GET /two", i)
	b.crash()
	b.expect(b.ask(api, "GET", "/two", ""), 200, `"hello"`)
	b.expect(b.ask(api, "GET", "/v1/two", ""), 404, `{"message":"Not Found"}`)
	b.expect(b.ask(api, "GET", "/v1/one", ""), 200, `"hello"`)
	if got := strings.Join(b.logged, "\n"); got != "log-group:access GET - 404 -\nlog-group:access GET GET /one 200 -" {
		t.Errorf("logged %s", got)
	}
	_, err = b.DeleteDeployment(t.Context(), &client.DeleteDeploymentInput{ApiId: &api, DeploymentId: d.DeploymentId})
	if got := codeOf(err); got != "BadRequestException: Active stages pointing to this deployment must be moved or deleted" {
		t.Error(got)
	}
	all, err := b.GetDeployments(t.Context(), &client.GetDeploymentsInput{ApiId: &api})
	if err != nil || len(all.Items) != 2 {
		t.Errorf("%v, %v", all, err)
	}
	if _, err := b.DeleteApi(t.Context(), &client.DeleteApiInput{ApiId: &api}); err != nil {
		t.Fatal(err)
	}
	b.crash()
	_, err = b.GetApi(t.Context(), &client.GetApiInput{ApiId: &api})
	if got := codeOf(err); got != "NotFoundException: Invalid API identifier specified 111111111111:"+api {
		t.Error(got)
	}
}

func TestWhatIsRefused(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	api := b.api(nil)
	i := b.integrate(api, &client.CreateIntegrationInput{IntegrationType: types.IntegrationTypeAwsProxy,
		IntegrationUri: sdkaws.String(function), PayloadFormatVersion: sdkaws.String("2.0")})
	b.route(api, "GET /", i)
	ctx := t.Context()
	for want, try := range map[string]func() error{
		"ConflictException: Route with key GET / already exists for this API": func() error {
			_, err := b.CreateRoute(ctx, &client.CreateRouteInput{ApiId: &api, RouteKey: sdkaws.String("GET /")})
			return err
		},
		"ConflictException: Stage already exists": func() error {
			_, err := b.CreateStage(ctx, &client.CreateStageInput{ApiId: &api, StageName: sdkaws.String("$default")})
			return err
		},
		"BadRequestException: ProtocolType WEBSOCKET is not served here: HTTP is": func() error {
			_, err := b.CreateApi(ctx, &client.CreateApiInput{Name: sdkaws.String("a"), ProtocolType: types.ProtocolTypeWebsocket})
			return err
		},
		"BadRequestException: PayloadFormatVersion is a required parameter for integration": func() error {
			_, err := b.CreateIntegration(ctx, &client.CreateIntegrationInput{
				ApiId: &api, IntegrationType: types.IntegrationTypeAwsProxy,
				IntegrationUri: sdkaws.String(function)})
			return err
		},
		"ConflictException: Cannot delete Integration '" + i + "' because it is referenced by route 'GET /'.": func() error {
			_, err := b.DeleteIntegration(ctx, &client.DeleteIntegrationInput{ApiId: &api, IntegrationId: &i})
			return err
		},
	} {
		if got := codeOf(try()); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestSettingsAreChangedAndKept(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	ctx := t.Context()
	a, err := b.CreateApi(
		ctx,
		&client.CreateApiInput{Name: sdkaws.String("quick"), ProtocolType: types.ProtocolTypeHttp,
			Target: sdkaws.String(function), RouteKey: sdkaws.String("GET /quick"), Tags: map[string]string{"a": "1"}},
	)
	if err != nil {
		t.Fatal(err)
	}
	b.expect(b.ask(*a.ApiId, "GET", "/quick", ""), 200, `"hello"`)
	if _, err := b.UpdateApi(ctx, &client.UpdateApiInput{ApiId: a.ApiId, Description: sdkaws.String("d"), RouteKey: sdkaws.String("GET /moved")}); err != nil {
		t.Fatal(err)
	}
	stage := sdkaws.String("$default")
	if _, err := b.UpdateStage(ctx, &client.UpdateStageInput{ApiId: a.ApiId, StageName: stage, StageVariables: map[string]string{"x": "1", "y": "2"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.UpdateStage(ctx, &client.UpdateStageInput{ApiId: a.ApiId, StageName: stage, StageVariables: map[string]string{"x": ""}}); err != nil {
		t.Fatal(err)
	}
	arn := sdkaws.String("arn:aws:apigateway:eu-west-1::/apis/" + *a.ApiId)
	if _, err := b.TagResource(ctx, &client.TagResourceInput{ResourceArn: arn, Tags: map[string]string{"b": "2"}}); err != nil {
		t.Fatal(err)
	}
	if _, err := b.UntagResource(ctx, &client.UntagResourceInput{ResourceArn: arn, TagKeys: []string{"a"}}); err != nil {
		t.Fatal(err)
	}
	b.crash()
	b.expect(b.ask(*a.ApiId, "GET", "/moved", ""), 200, `"hello"`)
	b.expect(b.ask(*a.ApiId, "GET", "/quick", ""), 404, `{"message":"Not Found"}`)
	got, err := b.GetApi(ctx, &client.GetApiInput{ApiId: a.ApiId})
	if err != nil || *got.Description != "d" || len(got.Tags) != 1 || got.Tags["b"] != "2" {
		t.Errorf("%+v, %v", got, err)
	}
	st, err := b.GetStage(ctx, &client.GetStageInput{ApiId: a.ApiId, StageName: stage})
	if err != nil || len(st.StageVariables) != 1 || st.StageVariables["y"] != "2" || !*st.AutoDeploy ||
		!*st.ApiGatewayManaged {
		t.Errorf("%+v, %v", st, err)
	}
}
