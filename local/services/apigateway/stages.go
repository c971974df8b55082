package apigateway

import (
	"context"
	"maps"
	"slices"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/internal/lazyregexp"
	"stepback/jsonvalue"
)

// stageAnswer is a stage as returned in responses.
type stageAnswer struct {
	APIGatewayManaged bool `json:"ApiGatewayManaged,omitempty"`
	stageSettings
	CreatedDate, LastUpdatedDate server.Time
	LastDeploymentStatusMessage  string `json:",omitempty"`
	Tags                         map[string]string
}

func (st *stage) shown() *stageAnswer {
	out := &stageAnswer{APIGatewayManaged: st.Managed, stageSettings: st.stageSettings, CreatedDate: timeOf(st.Created),
		LastUpdatedDate: timeOf(st.Updated), Tags: maps.Clone(st.Tags)}
	if out.Tags == nil {
		out.Tags = map[string]string{}
	}
	if out.DefaultRouteSettings == nil {
		out.DefaultRouteSettings = &routeSettings{}
	}
	if st.AutoDeploy && st.DeploymentID != "" {
		out.LastDeploymentStatusMessage = "Successfully deployed stage with deployment ID '" + st.DeploymentID + "'"
	}
	return out
}

var stageName = lazyregexp.New(`^[a-zA-Z0-9_-]+$`)

// merge applies the members of a request to the settings.
func (st *stage) merge(a *api, in jsonvalue.Value) error {
	st.stageSettings = st.copied()
	before := st.DeploymentID
	if err := merge(&st.stageSettings, []byte(in.JSON())); err != nil {
		return err
	}
	for name, value := range st.StageVariables {
		if value == "" {
			delete(st.StageVariables, name)
		}
	}
	switch {
	case st.StageName != defaultStage && !stageName.MatchString(st.StageName):
		return invalid("Stage name only allows a-zA-Z0-9_- and '$default'")
	case st.ClientCertificateID != "":
		return invalid("ClientCertificateId is not supported for HTTP APIs")
	case st.AutoDeploy && member(in, "DeploymentId") != "" && st.DeploymentID != before:
		return invalid("Deployment ID cannot be set on a stage for which auto deploy is enabled")
	case st.DeploymentID != "" && a.deployments[st.DeploymentID] == nil:
		return notFound("Invalid deployment identifier specified")
	case st.AccessLogSettings != nil && st.AccessLogSettings.DestinationArn != "" && st.AccessLogSettings.Format == "":
		return invalid("Failed to validate access log settings: Format is required")
	}
	return nil
}

func (c *changes) keepStage(st *stage) error {
	c.a.stages[st.StageName] = st
	return c.put("/stage/"+st.StageName, st)
}

func (s *Service) createStage(scope aws.Scope, in jsonvalue.Value) (out *stageAnswer, err error) {
	err = s.change(scope, member(in, "ApiId"), func(c *changes) error {
		if c.a.stages[member(in, "StageName")] != nil {
			return conflict("Stage already exists")
		}
		now := s.o.Now().UnixMilli()
		st := &stage{Created: now, Updated: now}
		tags, _ := in.Get("Tags")
		st.Tags = textMap(tags)
		if err := st.merge(c.a, in); err != nil {
			return err
		}
		if err := c.keepStage(st); err != nil {
			return err
		}
		if err := c.deploy(); err != nil {
			return err
		}
		out = c.a.stages[st.StageName].shown()
		return nil
	})
	return out, err
}

func (s *Service) updateStage(scope aws.Scope, in jsonvalue.Value) (out *stageAnswer, err error) {
	err = s.change(scope, member(in, "ApiId"), func(c *changes) error {
		st, err := c.a.stage(member(in, "StageName"))
		if err != nil {
			return err
		}
		changed := *st
		changed.Updated = s.o.Now().UnixMilli()
		if err := changed.merge(c.a, in); err != nil {
			return err
		}
		if err := c.keepStage(&changed); err != nil {
			return err
		}
		if changed.AutoDeploy && !st.AutoDeploy {
			if err := c.deploy(); err != nil {
				return err
			}
		}
		out = c.a.stages[st.StageName].shown()
		return nil
	})
	return out, err
}

func (a *api) stage(name string) (*stage, error) {
	if st := a.stages[name]; st != nil {
		return st, nil
	}
	return nil, notFound("Invalid stage identifier specified")
}

type oneStage struct {
	oneAPI
	StageName string
	RouteKey  string
}

func (s *Service) getStage(_ context.Context, scope aws.Scope, in *oneStage) (*stageAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.find(scope, in.APIID)
	if err != nil {
		return nil, err
	}
	st, err := a.stage(in.StageName)
	if err != nil {
		return nil, err
	}
	return st.shown(), nil
}

type stagesAnswer struct {
	Items     []stageAnswer
	NextToken string `json:",omitempty"`
}

func (s *Service) getStages(_ context.Context, scope aws.Scope, in *paged) (*stagesAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.find(scope, in.APIID)
	if err != nil {
		return nil, err
	}
	all := []stageAnswer{}
	for _, st := range a.stages {
		all = append(all, *st.shown())
	}
	part, next, err := page(s, *in, "GetStages", scope, all, func(st stageAnswer) string { return st.StageName })
	return &stagesAnswer{part, next}, err
}

// editStage changes one stage.
func (s *Service) editStage(scope aws.Scope, in *oneStage, edit func(*stage)) error {
	return s.change(scope, in.APIID, func(c *changes) error {
		st, err := c.a.stage(in.StageName)
		if err != nil {
			return err
		}
		changed := *st
		changed.stageSettings = st.copied()
		edit(&changed)
		changed.Updated = s.o.Now().UnixMilli()
		return c.keepStage(&changed)
	})
}

func (s *Service) deleteAccessLogs(_ context.Context, scope aws.Scope, in *oneStage) (*none, error) {
	return &none{}, s.editStage(scope, in, func(st *stage) { st.AccessLogSettings = nil })
}

func (s *Service) deleteRouteSettings(_ context.Context, scope aws.Scope, in *oneStage) (*none, error) {
	return &none{}, s.editStage(scope, in, func(st *stage) { delete(st.RouteSettings, in.RouteKey) })
}

func (s *Service) deleteStage(_ context.Context, scope aws.Scope, in *oneStage) (*none, error) {
	return &none{}, s.change(scope, in.APIID, func(c *changes) error {
		st, err := c.a.stage(in.StageName)
		if err != nil {
			return err
		}
		delete(c.a.stages, in.StageName)
		c.remove("/stage/" + in.StageName)
		c.forget(st.DeploymentID)
		return nil
	})
}

// deploymentAnswer is a deployment as returned in responses.
type deploymentAnswer struct {
	AutoDeployed            bool
	CreatedDate             server.Time
	DeploymentID            string `json:"DeploymentId"`
	DeploymentStatus        string
	DeploymentStatusMessage string `json:",omitempty"`
	Description             string `json:",omitempty"`
}

func (d *deployment) shown() *deploymentAnswer {
	return &deploymentAnswer{AutoDeployed: d.Auto, CreatedDate: timeOf(d.Created), DeploymentID: d.ID,
		DeploymentStatus: "DEPLOYED", Description: d.Description}
}

// newDeployment creates a deployment with a copy of the API's present routes, integrations and authorizers.
func (c *changes) newDeployment(description string, auto bool) (*deployment, error) {
	d := &deployment{ID: drawIn(c.a.deployments), Description: description, Auto: auto,
		Created:      c.s.o.Now().UnixMilli(),
		Integrations: maps.Clone(c.a.integrations), Authorizers: maps.Clone(c.a.authorizers)}
	for _, key := range slices.Sorted(maps.Keys(c.a.routes)) {
		d.Routes = append(d.Routes, c.a.routes[key])
	}
	if err := d.compile(); err != nil {
		return nil, err
	}
	c.a.deployments[d.ID] = d
	return d, c.put("/deployment/"+d.ID, d)
}

// deploy gives the stages with AutoDeploy a deployment of the API's present state.
func (c *changes) deploy() error {
	var d *deployment
	for _, name := range slices.Sorted(maps.Keys(c.a.stages)) {
		st := c.a.stages[name]
		if !st.AutoDeploy {
			continue
		}
		if d == nil {
			var err error
			if d, err = c.newDeployment("Automatic deployment triggered by changes to the Api configuration", true); err != nil {
				return err
			}
		}
		changed := *st
		changed.DeploymentID = d.ID
		if err := c.keepStage(&changed); err != nil {
			return err
		}
		c.forget(st.DeploymentID)
	}
	return nil
}

// forget removes an automatic deployment that no stage uses any more.
func (c *changes) forget(id string) {
	if d := c.a.deployments[id]; d == nil || !d.Auto {
		return
	}
	for _, st := range c.a.stages {
		if st.DeploymentID == id {
			return
		}
	}
	delete(c.a.deployments, id)
	c.remove("/deployment/" + id)
}

type deploymentRequest struct {
	oneAPI
	DeploymentID string  `json:"DeploymentId"`
	Description  *string // nil keeps it
	StageName    string
}

func (s *Service) createDeployment(_ context.Context, scope aws.Scope, in *deploymentRequest) (out *deploymentAnswer, err error) {
	err = s.change(scope, in.APIID, func(c *changes) error {
		if len(c.a.routes) == 0 {
			return invalid("At least one route is required before deploying the Api.")
		}
		description := ""
		if in.Description != nil {
			description = *in.Description
		}
		d, err := c.newDeployment(strings.Clone(description), false)
		if err != nil {
			return err
		}
		out = d.shown()
		if in.StageName == "" {
			return nil
		}
		st, err := c.a.stage(in.StageName)
		if err != nil {
			return err
		}
		if st.AutoDeploy {
			return invalid("Deployment ID cannot be set on a stage for which auto deploy is enabled")
		}
		changed := *st
		changed.DeploymentID, changed.Updated = d.ID, s.o.Now().UnixMilli()
		if err := c.keepStage(&changed); err != nil {
			return err
		}
		c.forget(st.DeploymentID)
		return nil
	})
	return out, err
}

func (a *api) deployment(id string) (*deployment, error) {
	if d := a.deployments[id]; d != nil {
		return d, nil
	}
	return nil, notFound("Invalid deployment identifier specified")
}

func (s *Service) getDeployment(_ context.Context, scope aws.Scope, in *deploymentRequest) (*deploymentAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.find(scope, in.APIID)
	if err != nil {
		return nil, err
	}
	d, err := a.deployment(in.DeploymentID)
	if err != nil {
		return nil, err
	}
	return d.shown(), nil
}

type deploymentsAnswer struct {
	Items     []deploymentAnswer
	NextToken string `json:",omitempty"`
}

func (s *Service) getDeployments(_ context.Context, scope aws.Scope, in *paged) (*deploymentsAnswer, error) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	a, err := s.find(scope, in.APIID)
	if err != nil {
		return nil, err
	}
	all := []deploymentAnswer{}
	for _, d := range a.deployments {
		all = append(all, *d.shown())
	}
	part, next, err := page(s, *in, "GetDeployments", scope, all, func(d deploymentAnswer) string { return d.DeploymentID })
	return &deploymentsAnswer{part, next}, err
}

func (s *Service) updateDeployment(_ context.Context, scope aws.Scope, in *deploymentRequest) (out *deploymentAnswer, err error) {
	err = s.change(scope, in.APIID, func(c *changes) error {
		d, err := c.a.deployment(in.DeploymentID)
		if err != nil {
			return err
		}
		changed := *d
		if in.Description != nil {
			changed.Description = *in.Description
		}
		out = changed.shown()
		c.a.deployments[d.ID] = &changed
		return c.put("/deployment/"+d.ID, &changed)
	})
	return out, err
}

func (s *Service) deleteDeployment(_ context.Context, scope aws.Scope, in *deploymentRequest) (*none, error) {
	return &none{}, s.change(scope, in.APIID, func(c *changes) error {
		if _, err := c.a.deployment(in.DeploymentID); err != nil {
			return err
		}
		for _, st := range c.a.stages {
			if st.DeploymentID == in.DeploymentID {
				return invalid("Active stages pointing to this deployment must be moved or deleted")
			}
		}
		delete(c.a.deployments, in.DeploymentID)
		c.remove("/deployment/" + in.DeploymentID)
		return nil
	})
}
