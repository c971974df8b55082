package events_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	sdkaws "github.com/aws/aws-sdk-go-v2/aws"
	client "github.com/aws/aws-sdk-go-v2/service/eventbridge"
	"github.com/aws/aws-sdk-go-v2/service/eventbridge/types"
)

// called is an endpoint that records its requests.
type called struct {
	mu       sync.Mutex
	requests []string
	status   int
}

func (c *called) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests = append(c.requests, r.Method+" "+r.URL.String()+" "+r.Header.Get("Authorization")+r.Header.Get("X-Key")+
		r.Header.Get("X-Order")+" "+string(body))
	if strings.HasPrefix(r.URL.Path, "/token") {
		_, _ = io.WriteString(w, `{"access_token":"t0","expires_in":3600}`)
		return
	}
	if c.status != 0 {
		w.WriteHeader(c.status)
	}
}

func (c *called) all() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := c.requests
	c.requests = nil
	return all
}

// destination creates a connection and an API destination, and a rule that calls it.
func (b *bench) destination(name, endpoint string, kind types.ConnectionAuthorizationType,
	auth *types.CreateConnectionAuthRequestParameters, perSecond int32) {
	b.t.Helper()
	c, err := b.CreateConnection(b.t.Context(), &client.CreateConnectionInput{Name: &name, AuthorizationType: kind,
		AuthParameters: auth})
	if err != nil {
		b.t.Fatal(err)
	}
	d, err := b.CreateApiDestination(b.t.Context(), &client.CreateApiDestinationInput{Name: &name,
		ConnectionArn: c.ConnectionArn, InvocationEndpoint: &endpoint, HttpMethod: types.ApiDestinationHttpMethodPost,
		InvocationRateLimitPerSecond: &perSecond})
	if err != nil {
		b.t.Fatal(err)
	}
	b.rule(name, "", `{"source":["`+name+`"]}`, types.Target{Id: &name, Arn: d.ApiDestinationArn,
		RoleArn: sdkaws.String(role), InputPath: sdkaws.String("$.detail"), HttpParameters: &types.HttpParameters{
			PathParameterValues: []string{"$.detail.id"}, HeaderParameters: map[string]string{"X-Order": "o"},
			QueryStringParameters: map[string]string{"q": "$.source"}}})
}

func TestAPIDestinations(t *testing.T) {
	t.Parallel()
	b, to := newBench(t), &called{}
	server := httptest.NewServer(to)
	defer server.Close()
	text := sdkaws.String
	b.destination("basic", server.URL+"/orders/*", types.ConnectionAuthorizationTypeBasic,
		&types.CreateConnectionAuthRequestParameters{
			BasicAuthParameters: &types.CreateConnectionBasicAuthRequestParameters{Username: text("u"), Password: text("p")}}, 300)
	b.destination("key", server.URL+"/orders/*", types.ConnectionAuthorizationTypeApiKey,
		&types.CreateConnectionAuthRequestParameters{
			ApiKeyAuthParameters: &types.CreateConnectionApiKeyAuthRequestParameters{ApiKeyName: text("X-Key"), ApiKeyValue: text("k")},
			InvocationHttpParameters: &types.ConnectionHttpParameters{BodyParameters: []types.ConnectionBodyParameter{
				{Key: text("extra"), Value: text("e"), IsValueSecret: true}}}}, 300)
	b.destination("oauth", server.URL+"/orders/*", types.ConnectionAuthorizationTypeOauthClientCredentials,
		&types.CreateConnectionAuthRequestParameters{OAuthParameters: &types.CreateConnectionOAuthRequestParameters{
			AuthorizationEndpoint: text(server.URL + "/token"), HttpMethod: types.ConnectionOAuthHttpMethodPost,
			ClientParameters: &types.CreateConnectionOAuthClientRequestParameters{ClientID: text("c"), ClientSecret: text("s")}}}, 300)
	b.crash()
	for name, want := range map[string][]string{
		"basic": {`POST /orders/7?q=basic Basic dTpwo {"id":7}`},
		"key":   {`POST /orders/7?q=key ko {"id":7,"extra":"e"}`},
		"oauth": {`POST /token  client_id=c&client_secret=s&grant_type=client_credentials`,
			`POST /orders/7?q=oauth Bearer t0o {"id":7}`},
	} {
		b.put(name, `{"id":7}`)
		b.pass(time.Second)
		if got := to.all(); strings.Join(got, "\n") != strings.Join(want, "\n") {
			t.Errorf("%s: %q", name, got)
		}
	}
	d, err := b.DescribeConnection(t.Context(), &client.DescribeConnectionInput{Name: text("key")})
	if err != nil || *d.AuthParameters.ApiKeyAuthParameters.ApiKeyName != "X-Key" || d.ConnectionState != "AUTHORIZED" ||
		d.AuthParameters.InvocationHttpParameters.BodyParameters[0].Value != nil || !strings.Contains(*d.SecretArn, "events!connection/key/") {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err := b.DeauthorizeConnection(t.Context(), &client.DeauthorizeConnectionInput{Name: text("key")}); err != nil {
		t.Fatal(err)
	}
	described, err := b.DescribeApiDestination(t.Context(), &client.DescribeApiDestinationInput{Name: text("key")})
	if err != nil || described.ApiDestinationState != types.ApiDestinationStateInactive {
		t.Errorf("%+v, %v", described, err)
	}
	_, err = b.DescribeConnection(t.Context(), &client.DescribeConnectionInput{Name: text("gone")})
	refused(t, err, "ResourceNotFoundException", "Failed to describe the connection(s). Connection 'gone' does not exist.")
}

// TestSecretsOfConnectionsAreEncrypted checks that stored data contain no secret, and that secrets stored by an
// earlier version are encrypted.
func TestSecretsOfConnectionsAreEncrypted(t *testing.T) {
	t.Parallel()
	b, to := newBench(t), &called{}
	server := httptest.NewServer(to)
	defer server.Close()
	b.destination("basic", server.URL, types.ConnectionAuthorizationTypeBasic, &types.CreateConnectionAuthRequestParameters{
		BasicAuthParameters: &types.CreateConnectionBasicAuthRequestParameters{Username: sdkaws.String("u"),
			Password: sdkaws.String("swordfish")}}, 300)
	table := b.store.Table("events")
	kept := func() string {
		t.Helper()
		text, found, err := table.Get("connection/" + account + "/" + region + "/basic")
		if err != nil || !found {
			t.Fatal(found, err)
		}
		return string(text)
	}
	if text := kept(); strings.Contains(text, "swordfish") || !strings.Contains(text, `"Username":"u"`) {
		t.Errorf("%s", text)
	}
	var old map[string]any
	if err := json.Unmarshal([]byte(kept()), &old); err != nil {
		t.Fatal(err)
	}
	old["Sealed"], old["Auth"] = "", map[string]any{"BasicAuthParameters": map[string]string{"Username": "u", "Password": "mackerel"}}
	text, err := json.Marshal(old)
	if err != nil {
		t.Fatal(err)
	}
	batch, err := b.store.Begin()
	if err != nil {
		t.Fatal(err)
	}
	batch.Put(table, "connection/"+account+"/"+region+"/basic", text)
	if err := batch.Apply()(); err != nil {
		t.Fatal(err)
	}
	b.crash()
	table = b.store.Table("events")
	if text := kept(); strings.Contains(text, "mackerel") {
		t.Errorf("%s", text)
	}
	b.put("basic", `{"id":7}`)
	b.pass(time.Second)
	if got := to.all(); len(got) != 1 || !strings.Contains(got[0], "Basic dTptYWNrZXJlbA==") { // u:mackerel
		t.Errorf("%q", got)
	}
}

func TestAPIDestinationsAreTriedAgainAndNotTooOften(t *testing.T) {
	t.Parallel()
	b, to := newBench(t), &called{status: http.StatusTooManyRequests}
	server := httptest.NewServer(to)
	defer server.Close()
	b.destination("slow", server.URL+"/*", types.ConnectionAuthorizationTypeApiKey, &types.CreateConnectionAuthRequestParameters{
		ApiKeyAuthParameters: &types.CreateConnectionApiKeyAuthRequestParameters{ApiKeyName: sdkaws.String("X-Key"),
			ApiKeyValue: sdkaws.String("k")}}, 2)
	b.clock.Hold()
	b.put("slow", `{"id":1}`)
	b.clock.Release()
	b.pass(time.Minute)
	if n := len(to.all()); n < 3 {
		t.Errorf("%d calls", n)
	}
	to.mu.Lock()
	to.status = 200
	to.mu.Unlock()
	b.pass(time.Hour)
	to.all()
	b.clock.Hold()
	for range 10 {
		b.put("slow", `{"id":1}`)
	}
	if err := b.clock.Sleep(t.Context(), 2200*time.Millisecond); err != nil {
		t.Fatal(err)
	}
	if n := len(to.all()); n < 4 || n > 7 {
		t.Errorf("%d calls in two seconds", n)
	}
	if err := b.clock.Sleep(t.Context(), time.Minute); err != nil {
		t.Fatal(err)
	}
	b.clock.Release()
	if n := b.service.Pending(); n != 0 {
		t.Errorf("%d letters are left", n)
	}
}
