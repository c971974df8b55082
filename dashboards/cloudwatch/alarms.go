package cloudwatch

import (
	"context"
	"fmt"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/types"

	"stepback/dashboards/render"
)

// alarms returns the current states of the dashboard's alarms. Alarms that the endpoint does not have are reported as
// missing.
func alarms(ctx context.Context, c Client, body []byte) ([]render.Alarm, error) {
	arns, err := render.AlarmARNs(body)
	if err != nil || len(arns) == 0 {
		return nil, err
	}
	in := &cloudwatch.DescribeAlarmsInput{AlarmTypes: []types.AlarmType{types.AlarmTypeMetricAlarm,
		types.AlarmTypeCompositeAlarm}}
	for _, arn := range arns {
		in.AlarmNames = append(in.AlarmNames, arn[strings.LastIndexByte(arn, ':')+1:])
	}
	states := map[string]render.Alarm{}
	for pages := cloudwatch.NewDescribeAlarmsPaginator(c, in); pages.HasMorePages(); { // 50 per page
		out, err := pages.NextPage(ctx)
		if err != nil {
			return nil, fmt.Errorf("%d alarms: %w", len(arns), err)
		}
		for _, a := range out.MetricAlarms {
			states[aws.ToString(a.AlarmName)] = shown(a.AlarmName, a.StateValue, a.AlarmDescription)
		}
		for _, a := range out.CompositeAlarms {
			states[aws.ToString(a.AlarmName)] = shown(a.AlarmName, a.StateValue, a.AlarmDescription)
		}
	}
	all := make([]render.Alarm, 0, len(arns))
	for _, name := range in.AlarmNames {
		a, ok := states[name]
		if !ok {
			a = render.Alarm{Name: name, State: "missing",
				Text: "The dashboard shows this alarm, and the endpoint does not have it."}
		}
		all = append(all, a)
	}
	return all, nil
}

func shown(name *string, state types.StateValue, description *string) render.Alarm {
	return render.Alarm{Name: aws.ToString(name), State: string(state), Text: aws.ToString(description),
		Tripped: state == types.StateValueAlarm}
}
