package cloudwatch

import (
	"context"
	"encoding/json"
	"strings"

	"stepback/aws"
	"stepback/aws/server"
	"stepback/internal/lazyregexp"
	"stepback/local/services/documents"
)

// dashboard is the stored form of a dashboard.
type dashboard struct {
	Name, Body string
	Modified   server.Time
}

func dashboardARN(scope aws.Scope, name string) string {
	return scope.GlobalARN("cloudwatch", "dashboard/"+name)
}

type putDashboardRequest struct {
	Name string `json:"DashboardName"`
	Body string `json:"DashboardBody"`
}

type validationMessage struct{ DataPath, Message string }

type putDashboardAnswer struct {
	Messages []validationMessage `json:"DashboardValidationMessages"`
}

var dashboardName = lazyregexp.New(`^[A-Za-z0-9_-]+$`)

func (s *Service) putDashboard(_ context.Context, scope aws.Scope, in *putDashboardRequest) (*putDashboardAnswer, error) {
	var body struct {
		Widgets []json.RawMessage `json:"widgets"`
	}
	if !dashboardName.MatchString(in.Name) {
		return nil, &aws.Error{Code: "DashboardInvalidInputError", Message: "The value " + in.Name + " for field DashboardName contains " +
			"invalid characters. It can only contain alphanumerics, dash (-) and underscore (_)."}
	}
	if err := json.Unmarshal([]byte(in.Body), &body); err != nil {
		return nil, &aws.Error{Code: "DashboardInvalidInputError", Message: "The field DashboardBody must be a valid JSON object",
			Members: map[string]any{"dashboardValidationMessages": []validationMessage{{"", err.Error()}}}}
	}
	text, err := json.Marshal(dashboard{in.Name, in.Body, server.Time(s.opts.Clock.Now())})
	if err != nil {
		return nil, err
	}
	return &putDashboardAnswer{[]validationMessage{}}, s.change(func(b *documents.Batch) error {
		b.Put(s.table, dashboardKeys+scope.Account+"/"+in.Name, text)
		return nil
	})
}

type dashboardRequest struct {
	Name string `json:"DashboardName"`
}

type getDashboardAnswer struct {
	ARN  string `json:"DashboardArn"`
	Body string `json:"DashboardBody"`
	Name string `json:"DashboardName"`
}

func (s *Service) dashboard(scope aws.Scope, name string) (*dashboard, error) {
	text, found, err := s.table.Get(dashboardKeys + scope.Account + "/" + name)
	if err == nil && !found {
		err = &aws.Error{Code: "DashboardNotFoundError", Status: 404, Message: "Dashboard " + name + " does not exist"}
	}
	if err != nil {
		return nil, err
	}
	d := new(dashboard)
	return d, json.Unmarshal(text, d)
}

func (s *Service) getDashboard(_ context.Context, scope aws.Scope, in *dashboardRequest) (*getDashboardAnswer, error) {
	d, err := s.dashboard(scope, in.Name)
	if err != nil {
		return nil, err
	}
	return &getDashboardAnswer{dashboardARN(scope, d.Name), d.Body, d.Name}, nil
}

type listDashboardsRequest struct {
	Prefix    string `json:"DashboardNamePrefix"`
	NextToken string
}

type dashboardEntry struct {
	Name     string      `json:"DashboardName"`
	ARN      string      `json:"DashboardArn"`
	Modified server.Time `json:"LastModified"`
	Size     int
}

type listDashboardsAnswer struct {
	Entries   []dashboardEntry `json:"DashboardEntries"`
	NextToken string           `json:",omitempty"`
}

func (s *Service) listDashboards(_ context.Context, scope aws.Scope, in *listDashboardsRequest) (*listDashboardsAnswer,
	error) {
	const size = 1000
	all := []dashboardEntry{}
	if err := s.table.Scan(dashboardKeys+scope.Account+"/"+in.Prefix, func(_ string, text []byte) error {
		var d dashboard
		err := json.Unmarshal(text, &d)
		all = append(all, dashboardEntry{d.Name, dashboardARN(scope, d.Name), d.Modified, len(d.Body)})
		return err
	}); err != nil {
		return nil, err
	}
	page, next, ok := aws.Page(aws.NewListing(s.opts.Clock.Now(), "dashboards", scope.Account, in.Prefix), in.NextToken, size, all,
		func(d dashboardEntry) string { return d.Name })
	if !ok {
		return nil, invalidToken()
	}
	return &listDashboardsAnswer{page, next}, nil
}

type deleteDashboardsRequest struct {
	Names []string `json:"DashboardNames"`
}

func (s *Service) deleteDashboards(_ context.Context, scope aws.Scope, in *deleteDashboardsRequest) (*none, error) {
	if len(in.Names) == 0 {
		return nil, missing("The parameter DashboardNames is required.")
	}
	return &none{}, s.change(func(b *documents.Batch) error {
		for _, name := range in.Names {
			if _, err := s.dashboard(scope, name); err != nil {
				return err
			}
			b.Delete(s.table, dashboardKeys+scope.Account+"/"+strings.TrimSpace(name))
		}
		return nil
	})
}
