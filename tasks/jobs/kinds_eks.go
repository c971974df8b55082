package jobs

import "stepback/jsonvalue"

// eksJobs contains EKS clusters, their parts, and the jobs that run in them. If a task is given up, its cluster is
// left unchanged.
var eksJobs = map[string]*kind{
	"eks:createCluster":        made(cluster, "DELETING", "FAILED"),
	"eks:createFargateProfile": made(fargateProfile, "CREATE_FAILED", "DELETE_FAILED", "DELETING"),
	"eks:createNodegroup":      made(nodegroup, "CREATE_FAILED", "DELETE_FAILED", "DELETING"),
	"eks:deleteCluster":        deleted(cluster, "ACTIVE", "FAILED"),
	"eks:deleteFargateProfile": deleted(fargateProfile, "DELETE_FAILED"),
	"eks:deleteNodegroup":      deleted(nodegroup, "DELETE_FAILED"),
	"eks:runJob": {
		describe: "ReadJob", named: inCluster, found: path{"ResponseBody"}, read: condition,
		done: []string{"Complete"}, failed: []string{"Failed"}, final: "ReadLogs", result: part("ResponseBody"),
		stop: "DeleteJob", stopped: inCluster,
	},
}

// resource is a kind of thing that EKS creates and deletes.
type resource struct {
	name  string // EKS's name for it, which is also the member in descriptions
	named func(job) jsonvalue.Value
}

var (
	cluster        = resource{"Cluster", request(member{"Name", asked("Name")})}
	fargateProfile = resource{"FargateProfile", request(
		member{"ClusterName", asked("ClusterName")}, member{"FargateProfileName", asked("FargateProfileName")},
	)}
	nodegroup = resource{"Nodegroup", request(
		member{"ClusterName", asked("ClusterName")}, member{"NodegroupName", asked("NodegroupName")},
	)}
)

func made(r resource, failed ...string) *kind {
	return &kind{
		describe: "Describe" + r.name, named: r.named, found: path{r.name}, status: path{"Status"},
		done: []string{"ACTIVE"}, failed: failed, result: as(r.name, r.name),
	}
}

func deleted(r resource, failed ...string) *kind {
	return &kind{
		describe: "Describe" + r.name, named: r.named, found: path{r.name}, status: path{"Status"},
		gone: "ResourceNotFoundException", failed: failed, result: as(r.name, r.name),
	}
}

// inCluster returns the parameters that identify a Kubernetes job and its cluster, and the task's LogOptions.
func inCluster(j job) jsonvalue.Value {
	return request(
		member{"ClusterName", asked("ClusterName")}, member{"CertificateAuthority", asked("CertificateAuthority")},
		member{"Endpoint", asked("Endpoint")}, member{"Namespace", asked("Namespace")},
		member{"Name", told("ResponseBody", "metadata", "name")}, member{"LogOptions", asked("LogOptions")},
	)(j)
}

// condition returns the type of the condition with which a Kubernetes job has ended, or "" if it has not ended.
func condition(kubernetesJob jsonvalue.Value) string {
	conditions := path{"status", "conditions"}.in(kubernetesJob)
	if conditions.Kind() != jsonvalue.Array {
		return ""
	}
	for _, c := range conditions.Elements() {
		name, holds := path{"type"}.in(c).Text(), path{"status"}.in(c).Text() == "True"
		if holds && (name == "Complete" || name == "Failed") {
			return name
		}
	}
	return ""
}
