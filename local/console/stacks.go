package console

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"stepback/dashboards/cloudwatch"
)

// StackView is a CloudFormation stack: where its dashboards, alarms, state machines and queues are, and its other
// resources.
type StackView struct {
	Name       string             `json:"name"`
	Status     string             `json:"status"`
	Reason     string             `json:"reason,omitempty"`
	Made       string             `json:"created,omitempty"`
	Outputs    []StackOutput      `json:"outputs,omitempty"`
	Dashboards []string           `json:"dashboards"`
	Alarms     []cloudwatch.Alarm `json:"alarms"`
	Machines   []*MachineRow      `json:"stateMachines"`
	Queues     []QueueRow         `json:"queues"`
	Resources  []StackResource    `json:"resources"`
	Now        any                `json:"at"`
}

// StackOutput is an output of a stack.
type StackOutput struct {
	Key         string `json:"OutputKey"`
	Value       string `json:"OutputValue"`
	Description string `json:"Description"`
}

// QueueRow is a queue with its depth. Error is the reason why the depth is unknown.
type QueueRow struct {
	Name     string `json:"name"`
	Visible  string `json:"messages"`
	InFlight string `json:"inFlight"`
	Error    string `json:"error,omitempty"`
}

// StackResource is a resource of a stack. Link is the page that shows it; empty if there is none.
type StackResource struct {
	Logical  string `json:"LogicalResourceId"`
	Physical string `json:"PhysicalResourceId"`
	Type     string `json:"ResourceType"`
	Status   string `json:"ResourceStatus"`
	Reason   string `json:"ResourceStatusReason,omitempty"`
	Link     string `json:"link,omitempty"`
}

func (c *Console) stack(r *request) (*answer, error) {
	name := r.PathValue("name")
	var described struct {
		Stacks []struct {
			Name    string        `json:"StackName"`
			Status  string        `json:"StackStatus"`
			Reason  string        `json:"StackStatusReason"`
			Made    any           `json:"CreationTime"`
			Outputs []StackOutput `json:"Outputs"`
		} `json:"Stacks"`
	}
	if err := c.cfg.Call(r.Context(), "cloudformation", "DescribeStacks", map[string]any{"StackName": name}, &described); err != nil {
		return nil, missing(err, "There is no stack "+name+".")
	}
	if len(described.Stacks) == 0 {
		return nil, &notFound{"There is no stack " + name + "."}
	}
	s := described.Stacks[0]
	v := &StackView{Name: s.Name, Status: s.Status, Reason: s.Reason, Made: cell(s.Made), Outputs: s.Outputs,
		Now:        r.now,
		Dashboards: []string{}, Alarms: []cloudwatch.Alarm{}, Machines: []*MachineRow{}, Queues: []QueueRow{},
		Resources: []StackResource{}}
	if err := c.stackResources(r, v); err != nil {
		return nil, err
	}
	if err := c.stackAlarms(r, v); err != nil {
		return nil, err
	}
	for i := range v.Resources {
		res := &v.Resources[i]
		res.Link = linkOf(res)
		switch res.Type {
		case "AWS::CloudWatch::Dashboard":
			v.Dashboards = append(v.Dashboards, res.Physical)
		case "AWS::StepFunctions::StateMachine":
			row, err := c.glance(r, apiMachine{ARN: res.Physical, Name: lastOf(res.Physical), Type: "STANDARD"})
			if err != nil {
				return nil, err
			}
			v.Machines = append(v.Machines, row)
		case "AWS::SQS::Queue":
			v.Queues = append(v.Queues, c.queue(r, res.Physical))
		}
	}
	slices.SortFunc(v.Resources, func(a, b StackResource) int {
		return cmp.Or(strings.Compare(a.Type, b.Type), strings.Compare(a.Logical, b.Logical))
	})
	return &answer{Title: name, Template: "stack", View: v, Every: refreshed}, nil
}

// stackResources lists the resources of a stack.
func (c *Console) stackResources(r *request, v *StackView) error {
	in := map[string]any{"StackName": v.Name}
	for {
		var out struct {
			Resources []StackResource `json:"StackResourceSummaries"`
			Next      string          `json:"NextToken"`
		}
		if err := c.cfg.Call(r.Context(), "cloudformation", "ListStackResources", in, &out); err != nil {
			return err
		}
		for _, res := range out.Resources {
			if res.Status != "DELETE_COMPLETE" {
				v.Resources = append(v.Resources, res)
			}
		}
		if out.Next == "" {
			return nil
		}
		in["NextToken"] = out.Next
	}
}

// stackAlarms finds the alarms of a stack among those that were deployed.
func (c *Console) stackAlarms(r *request, v *StackView) error {
	all, err := c.deployed(r.Context(), r.live)
	for _, a := range all {
		if slices.ContainsFunc(v.Resources, func(res StackResource) bool {
			return (res.Type == "AWS::CloudWatch::Alarm" || res.Type == "AWS::CloudWatch::CompositeAlarm") && lastOf(res.Physical) == a.Name
		}) {
			v.Alarms = append(v.Alarms, a)
		}
	}
	return err
}

func (c *Console) queue(r *request, address string) QueueRow {
	row := QueueRow{Name: address[strings.LastIndexByte(address, '/')+1:]}
	var out struct {
		Attributes map[string]string `json:"Attributes"`
	}
	if err := c.cfg.Call(r.Context(), "sqs", "GetQueueAttributes", map[string]any{"QueueUrl": address,
		"AttributeNames": []string{"All"}}, &out); err != nil {
		row.Error = err.Error()
		return row
	}
	row.Visible, row.InFlight = out.Attributes["ApproximateNumberOfMessages"], out.Attributes["ApproximateNumberOfMessagesNotVisible"]
	return row
}

// pagesOfTypes are the services whose pages show resources, by the second part of their CloudFormation types.
var pagesOfTypes = map[string]string{"Lambda": "lambda", "SQS": "sqs", "SNS": "sns", "DynamoDB": "dynamodb", "S3": "s3", "IAM": "iam",
	"Events": "eventbridge", "Scheduler": "scheduler", "SSM": "ssm", "SecretsManager": "secretsmanager", "KMS": "kms", "ECR": "ecr"}

// linkOf returns the page that shows a resource; empty if there is none.
func linkOf(res *StackResource) string {
	switch res.Type {
	case "AWS::CloudWatch::Dashboard":
		return Path + "dashboards/" + url.PathEscape(res.Physical)
	case "AWS::CloudWatch::Alarm", "AWS::CloudWatch::CompositeAlarm":
		return alarmURL(lastOf(res.Physical))
	case "AWS::StepFunctions::StateMachine":
		return Path + "machines/" + url.PathEscape(lastOf(res.Physical))
	case "AWS::CloudFormation::Stack":
		parts := strings.Split(res.Physical, "/")
		return stackURL(parts[min(1, len(parts)-1)])
	case "AWS::Logs::LogGroup":
		return Path + "logs?group=" + url.QueryEscape(res.Physical)
	}
	if parts := strings.Split(res.Type, "::"); len(parts) == 3 && (parts[2] == "Function" || parts[2] == "Queue" || parts[2] == "Topic" ||
		parts[2] == "Table" || parts[2] == "Bucket" || parts[2] == "Role" || parts[2] == "Rule" || parts[2] == "Schedule" ||
		parts[2] == "Parameter" || parts[2] == "Secret" || parts[2] == "Key" || parts[2] == "Repository") && pagesOfTypes[parts[1]] != "" {
		return Path + "services/" + pagesOfTypes[parts[1]]
	}
	return ""
}

// stackURL returns the address of a stack's page.
func stackURL(name string) string { return Path + "stacks/" + url.PathEscape(name) }
