package awssdk_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"stepback/aws/loopback"
	"stepback/tasks/awssdk"
)

// TestInstancesByName changes instance fleets and groups that EMR lists on two pages.
func TestInstancesByName(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ resource, params, heard, err string }{
		"a fleet of the first page": {
			resource: "elasticmapreduce:modifyInstanceFleetByName",
			params:   `{"ClusterId":"j","InstanceFleetName":"core","InstanceFleet":{"TargetOnDemandCapacity":8,"TargetSpotCapacity":0}}`,
			heard:    `{"ClusterId":"j","InstanceFleet":{"InstanceFleetId":"i-1","TargetOnDemandCapacity":8,"TargetSpotCapacity":0}}`,
		},
		"a group of the second page": {
			resource: "elasticmapreduce:modifyInstanceGroupByName",
			params:   `{"ClusterId":"j","InstanceGroupName":"task","InstanceGroup":{"InstanceCount":8}}`,
			heard:    `{"ClusterId":"j","InstanceGroups":[{"InstanceCount":8,"InstanceGroupId":"i-2"}]}`,
		},
		"none of the name": {
			resource: "elasticmapreduce:modifyInstanceGroupByName",
			params:   `{"ClusterId":"j","InstanceGroupName":"none","InstanceGroup":{"InstanceCount":8}}`,
			err:      "ElasticMapReduce.InvalidRequestException: The cluster j has no InstanceGroup of the name none.",
		},
		"no name": {
			resource: "elasticmapreduce:modifyInstanceFleetByName", params: `{"ClusterId":"j"}`,
			err: `States.Runtime: The Parameters '{"ClusterId":"j"}' could not be used to start the Task: ` +
				`[The field "InstanceFleetName" is required but was missing]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var heard string
			emr := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, _ := io.ReadAll(r.Body)
				_, action, _ := strings.Cut(r.Header.Get("X-Amz-Target"), ".")
				list, listing := strings.CutPrefix(action, "List")
				switch {
				case !listing:
					heard = string(body)
					_, _ = io.WriteString(w, `{}`)
				case strings.Contains(string(body), "more"):
					_, _ = io.WriteString(w, `{"`+list+`":[{"Id":"i-2","Name":"task"}]}`)
				default:
					_, _ = io.WriteString(w, `{"`+list+`":[{"Id":"i-1","Name":"core"}],"Marker":"more"}`)
				}
			})
			_, err := invoke(&awssdk.Caller{Account: "123456789012", Region: "eu-west-1", Endpoints: awssdk.Endpoints{
				Embedded: map[string]awssdk.Endpoint{"emr": {URL: loopback.URL, Client: loopback.Client(emr)}},
			}}, c.resource, c.params)
			if c.err == "" && err != nil || c.err != "" && (err == nil || err.Error() != c.err) {
				t.Fatalf("got  %v\nwant %s", err, c.err)
			}
			if c.heard != "" && !same(t, heard, c.heard) {
				t.Errorf("EMR heard %s\nwant %s", heard, c.heard)
			}
		})
	}
}
