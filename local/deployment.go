package local

import (
	"context"
	"encoding/json"

	"stepback/aws"
	"stepback/local/endpoint"
	"stepback/local/services/cloudformation/resource"
	"stepback/local/services/ecr"
	"stepback/local/services/kms"
	"stepback/local/services/ssm"
)

// openDeployment opens the services that deployments need before they start: parameters (SSM) and repositories (ECR).
func (p *Platform) openDeployment(context.Context) error {
	parameters := ssm.New(ssm.Options{Documents: p.Documents, Clock: p.Clock, Scope: p.Scope, Log: p.cfg.Log,
		Secrets: kms.Secrets{Service: p.Keys, Context: "PARAMETER_ARN"}, Secret: p.secretOfParameter})
	p.offer(served{model: "ssm", about: "parameters", Service: endpoint.Service{Name: "SSM", Signing: "ssm",
		Target: "AmazonSSM", Handler: lazily(parameters.Handler)}})
	repositories := ecr.New(ecr.Options{Documents: p.Documents, Clock: p.Clock, Scope: p.Scope, Log: p.cfg.Log})
	p.offer(served{model: "ecr", about: "repositories, without a registry behind them",
		Service: endpoint.Service{Name: "ECR", Signing: "ecr", Target: "AmazonEC2ContainerRegistry_V20150921",
			Handler: lazily(repositories.Handler)}})
	return nil
}

// secretOfParameter returns the value of a secret, and its description as SSM shows it, with the permissions of the
// caller in ctx.
func (p *Platform) secretOfParameter(ctx context.Context, scope aws.Scope, id string) (value string, source []byte, err error) {
	var out struct {
		ARN, Name, VersionID string
		SecretString         string
		SecretBinary         string
		VersionStages        []string
		CreatedDate          float64
	}
	as := resource.Identity{Caller: p.callerKey(ctx, scope)}
	if err := (platformAPI{p: p, scope: scope, as: as}).Call(ctx, "secretsmanager", "GetSecretValue",
		map[string]any{"SecretId": id}, &out); err != nil {
		return "", nil, err
	}
	value = out.SecretString
	if value == "" {
		value = out.SecretBinary
	}
	source, err = json.Marshal(map[string]any{"ARN": out.ARN, "name": out.Name, "versionId": out.VersionID,
		"secretString": out.SecretString, "versionStages": out.VersionStages, "createdDate": out.CreatedDate})
	return value, source, err
}
