package csvimportstack

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/jsii-runtime-go"

	"stepback/dashboards"
	"stepback/retrymetrics"
)

// addDashboard declares the dashboard of the environment's retries, with its alarms. An account's dashboards share
// one list for all regions, so the name includes the environment.
func (s *Stack) addDashboard() error {
	d, err := dashboards.Monitor(dashboards.Options{
		Name: s.dashboardName(), StateMachine: s.Environment.Prefix(), Region: *s.Region(),
		Level: retrymetrics.Level(s.Environment.LogLevel), Shape: s.Environment.Shape, Stack: true, Alarms: s.alarmARNs,
		FilesMachine: *s.name(filesFunction),
	})
	if err != nil {
		return err
	}
	body, err := d.Body()
	if err != nil {
		return err
	}
	s.Dashboard = awscloudwatch.NewCfnDashboard(s.Stack, jsii.String("Dashboard"), &awscloudwatch.CfnDashboardProps{
		DashboardName: jsii.String(d.Name), DashboardBody: jsii.String(compact(body)),
	})
	return nil
}

// dashboardURL returns the dashboard's address in the console of the region and partition.
func (s *Stack) dashboardURL() *string {
	return s.consoleURL(s.dashboardName())
}

func (s *Stack) consoleURL(dashboard string) *string {
	return jsii.String("https://" + *s.Region() + ".console.aws.amazon.com/cloudwatch/home?region=" + *s.Region() +
		"#dashboards/dashboard/" + dashboard)
}

func (s *Stack) dashboardName() string { return dashboards.Name + "-" + s.Environment.Name }
