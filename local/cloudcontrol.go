package local

import (
	"context"

	"stepback/aws"
	"stepback/local/endpoint"
	"stepback/local/services/cloudcontrol"
	"stepback/local/services/cloudformation/resource"
)

// openCloudControl opens the Cloud Control API, over the types of resources of CloudFormation.
func (p *Platform) openCloudControl(context.Context) (err error) {
	p.resources, err = cloudcontrol.Open(
		cloudcontrol.Options{Store: p.Documents, Clock: p.Clock, Scope: p.Scope, Log: p.cfg.Log,
			Caller: p.callerKey,
			API: func(scope aws.Scope, as resource.Identity) resource.API {
				return platformAPI{p: p, scope: scope, as: as, session: "AWSCloudFormation"}
			}},
	)
	if err != nil {
		return err
	}
	p.onClose(p.resources.Close)
	p.offer(served{model: "cloudcontrol", about: "resources of all services, by CloudFormation type",
		Service: endpoint.Service{Name: "Cloud Control", Signing: "cloudcontrolapi", Target: "CloudApiService",
			Handler: lazily(p.resources.Handler)}})
	return nil
}
