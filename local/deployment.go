package local

import (
	"context"

	"stepback/local/endpoint"
	"stepback/local/services/ecr"
	"stepback/local/services/kms"
	"stepback/local/services/ssm"
)

// openDeployment opens the services that deployments need before they start: parameters (SSM) and repositories (ECR).
func (p *Platform) openDeployment(context.Context) error {
	parameters := ssm.New(ssm.Options{Documents: p.Documents, Clock: p.Clock, Scope: p.Scope, Log: p.cfg.Log,
		Secrets: kms.Secrets{Service: p.Keys, Context: "PARAMETER_ARN"}})
	p.offer(served{model: "ssm", about: "parameters", Service: endpoint.Service{Name: "SSM", Signing: "ssm",
		Target: "AmazonSSM", Handler: lazily(parameters.Handler)}})
	repositories := ecr.New(ecr.Options{Documents: p.Documents, Clock: p.Clock, Scope: p.Scope, Log: p.cfg.Log})
	p.offer(served{model: "ecr", about: "repositories, without a registry behind them",
		Service: endpoint.Service{Name: "ECR", Signing: "ecr", Target: "AmazonEC2ContainerRegistry_V20150921",
			Handler: lazily(repositories.Handler)}})
	return nil
}
