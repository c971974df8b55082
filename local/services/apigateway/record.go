package apigateway

import (
	"encoding/json"
	"maps"
	"time"

	"stepback/aws"
	"stepback/aws/server"
)

// apiSettings are the client's settings of an API.
type apiSettings struct {
	APIKeySelection           string `json:"ApiKeySelectionExpression,omitempty"`
	CorsConfiguration         *cors  `json:",omitempty"`
	Description               string `json:",omitempty"`
	DisableSchemaValidation   bool   `json:",omitempty"`
	DisableExecuteAPIEndpoint bool   `json:"DisableExecuteApiEndpoint"`
	IPAddressType             string `json:"IpAddressType,omitempty"`
	Name                      string
	ProtocolType              string
	RouteSelectionExpression  string
	Version                   string `json:",omitempty"`
}

// cors is an API's CORS configuration.
type cors struct {
	AllowCredentials *bool    `json:",omitempty"`
	AllowHeaders     []string `json:",omitempty"`
	AllowMethods     []string `json:",omitempty"`
	AllowOrigins     []string `json:",omitempty"`
	ExposeHeaders    []string `json:",omitempty"`
	MaxAge           *int     `json:",omitempty"` // seconds
}

// api is an API with everything that belongs to it.
type api struct {
	Account, Region, ID string
	apiSettings
	Tags    map[string]string `json:",omitempty"`
	Created int64             // milliseconds since 1970, like all times here
	// Quick is the ID of the integration that CreateApi's Target created; empty if there is none.
	Quick string `json:",omitempty"`

	routes       map[string]*route
	integrations map[string]*integration
	authorizers  map[string]*authorizer
	stages       map[string]*stage
	deployments  map[string]*deployment
}

func (a *api) scope() aws.Scope { return aws.Scope{Account: a.Account, Region: a.Region} }

type integrationSettings struct {
	ConnectionID         string                       `json:"ConnectionId,omitempty"`
	ConnectionType       string                       `json:",omitempty"`
	CredentialsArn       string                       `json:",omitempty"`
	Description          string                       `json:",omitempty"`
	IntegrationMethod    string                       `json:",omitempty"`
	IntegrationSubtype   string                       `json:",omitempty"`
	IntegrationType      string                       `json:",omitempty"`
	IntegrationURI       string                       `json:"IntegrationUri,omitempty"`
	PayloadFormatVersion string                       `json:",omitempty"`
	RequestParameters    map[string]string            `json:",omitempty"`
	ResponseParameters   map[string]map[string]string `json:",omitempty"`
	TimeoutInMillis      int                          `json:",omitempty"`
	TLSConfig            *tlsConfig                   `json:"TlsConfig,omitempty"`
}

type tlsConfig struct {
	ServerNameToVerify string `json:",omitempty"`
}

type integration struct {
	ID      string
	Managed bool `json:",omitempty"`
	integrationSettings
}

type routeSettingsOfAPI struct {
	APIKeyRequired      bool     `json:"ApiKeyRequired"`
	AuthorizationScopes []string `json:",omitempty"`
	AuthorizationType   string   `json:",omitempty"`
	AuthorizerID        string   `json:"AuthorizerId,omitempty"`
	OperationName       string   `json:",omitempty"`
	RouteKey            string
	Target              string `json:",omitempty"`
}

type route struct {
	ID      string
	Managed bool `json:",omitempty"`
	routeSettingsOfAPI
}

type authorizerSettings struct {
	AuthorizerCredentialsArn       string   `json:",omitempty"`
	AuthorizerPayloadFormatVersion string   `json:",omitempty"`
	AuthorizerResultTTLInSeconds   *int     `json:"AuthorizerResultTtlInSeconds,omitempty"`
	AuthorizerType                 string   `json:",omitempty"`
	AuthorizerURI                  string   `json:"AuthorizerUri,omitempty"`
	EnableSimpleResponses          bool     `json:",omitempty"`
	IdentitySource                 []string `json:",omitempty"`
	Name                           string   `json:",omitempty"`
}

type authorizer struct {
	ID string
	authorizerSettings
}

type routeSettings struct {
	DataTraceEnabled       bool     `json:",omitempty"`
	DetailedMetricsEnabled bool     `json:",omitempty"`
	LoggingLevel           string   `json:",omitempty"`
	ThrottlingBurstLimit   *int     `json:",omitempty"`
	ThrottlingRateLimit    *float64 `json:",omitempty"`
}

type accessLogSettings struct {
	DestinationArn string `json:",omitempty"`
	Format         string `json:",omitempty"`
}

type stageSettings struct {
	AccessLogSettings    *accessLogSettings       `json:",omitempty"`
	AutoDeploy           bool                     `json:",omitempty"`
	ClientCertificateID  string                   `json:"ClientCertificateId,omitempty"`
	DefaultRouteSettings *routeSettings           `json:",omitempty"`
	DeploymentID         string                   `json:"DeploymentId,omitempty"`
	Description          string                   `json:",omitempty"`
	RouteSettings        map[string]routeSettings `json:",omitempty"`
	StageName            string
	StageVariables       map[string]string `json:",omitempty"`
}

type stage struct {
	stageSettings
	Managed          bool              `json:",omitempty"`
	Tags             map[string]string `json:",omitempty"`
	Created, Updated int64
}

// deployment is the copy of an API's routes, with their integrations and authorizers, that stages serve.
type deployment struct {
	ID, Description string
	Auto            bool `json:",omitempty"`
	Created         int64
	Routes          []*route
	Integrations    map[string]*integration
	Authorizers     map[string]*authorizer `json:",omitempty"`

	compiled []*pattern // compiled patterns of Routes, in the same order
}

// merge applies the members of a document to settings; other settings are kept.
func merge(settings any, document []byte) error { return json.Unmarshal(document, settings) }

// copied returns a copy that merge may change.
func (s integrationSettings) copied() integrationSettings {
	s.RequestParameters = maps.Clone(s.RequestParameters)
	s.ResponseParameters, s.TLSConfig = maps.Clone(s.ResponseParameters), clone(s.TLSConfig)
	return s
}

// copied returns a copy that merge may change.
func (s stageSettings) copied() stageSettings {
	s.StageVariables, s.RouteSettings = maps.Clone(s.StageVariables), maps.Clone(s.RouteSettings)
	s.AccessLogSettings, s.DefaultRouteSettings = clone(s.AccessLogSettings), clone(s.DefaultRouteSettings)
	if d := s.DefaultRouteSettings; d != nil {
		d.ThrottlingBurstLimit, d.ThrottlingRateLimit = clone(d.ThrottlingBurstLimit), clone(d.ThrottlingRateLimit)
	}
	return s
}

func clone[T any](p *T) *T {
	if p == nil {
		return nil
	}
	c := *p
	return &c
}

// timeOf converts a time for responses.
func timeOf(ms int64) server.Time { return server.Time(time.UnixMilli(ms).UTC()) }
