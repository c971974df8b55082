package model

import "fmt"

// ClosedServiceError reports that AWS has closed a service: its endpoints answer no requests any more. Definitions that
// name it may still exist.
type ClosedServiceError struct {
	// Name is the name in a Resource, such as qldb. Product is AWS's name: Amazon QLDB.
	Name, Product string
}

// Error implements error.
func (e *ClosedServiceError) Error() string {
	return fmt.Sprintf("AWS has closed %s (%s); a call of it fails", e.Product, e.Name)
}

// Closed marks the error as a warning for package asl: AWS accepted such definitions.
func (*ClosedServiceError) Closed() bool { return true }

// closed holds the services that AWS has closed, by their names in Resources, from AWS's announcements up to November
// 2026. The models of some are still in AWS's SDKs.
var closed = map[string]string{
	"alexaforbusiness": "Alexa for Business", "applicationcostprofiler": "AWS Application Cost Profiler", "appmesh": "AWS App Mesh",
	"codestar": "AWS CodeStar", "elastictranscoder": "Amazon Elastic Transcoder", "evidently": "Amazon CloudWatch Evidently",
	"finspace": "Amazon FinSpace", "finspacedata": "Amazon FinSpace", "honeycode": "Amazon Honeycode",
	"inspector": "Amazon Inspector Classic", "iot1clickdevices": "AWS IoT 1-Click", "iot1clickprojects": "AWS IoT 1-Click",
	"iotanalytics": "AWS IoT Analytics", "iotevents": "AWS IoT Events", "ioteventsdata": "AWS IoT Events",
	"iotfleethub": "AWS IoT Device Management Fleet Hub", "kinesisanalytics": "Amazon Kinesis Data Analytics for SQL",
	"lookoutequipment": "Amazon Lookout for Equipment", "lookoutmetrics": "Amazon Lookout for Metrics",
	"lookoutvision": "Amazon Lookout for Vision", "macie": "Amazon Macie Classic", "mediastore": "AWS Elemental MediaStore",
	"mediastoredata": "AWS Elemental MediaStore", "mobile": "AWS Mobile Hub", "nimble": "Amazon Nimble Studio",
	"opsworks": "AWS OpsWorks Stacks", "opsworkscm": "AWS OpsWorks CM", "panorama": "AWS Panorama", "pinpoint": "Amazon Pinpoint",
	"pinpointemail": "Amazon Pinpoint", "privatenetworks": "AWS Private 5G", "proton": "AWS Proton", "qldb": "Amazon QLDB",
	"qldbsession": "Amazon QLDB", "robomaker": "AWS RoboMaker", "sagemakeredge": "Amazon SageMaker Edge Manager",
	"simspaceweaver": "AWS SimSpace Weaver", "sms": "AWS Server Migration Service", "workdocs": "Amazon WorkDocs",
	"worklink": "Amazon WorkLink",
}

// closedService returns a *ClosedServiceError if AWS has closed a service, and otherwise nil.
func closedService(name string) error {
	if product, ok := closed[name]; ok {
		return &ClosedServiceError{Name: name, Product: product}
	}
	return nil
}
