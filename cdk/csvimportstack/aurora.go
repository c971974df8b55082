package csvimportstack

import (
	"fmt"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsec2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsrds"
	"github.com/aws/jsii-runtime-go"
)

const (
	databaseName = "csvimport"
	databaseUser = "stepback" // authenticates with IAM tokens and has no password
	databasePort = 5432
)

// sessions limits the database sessions of one instance of a function. An instance handles one event at a time, so
// one session is enough. A session left open while the instance is frozen would keep the cluster from pausing.
const sessions = "pool_max_conns=1&idle_session_timeout=60000"

// resuming raises the connection timeout to 20 seconds, so that a record can wait for a paused cluster within its
// single attempt of 30 seconds, instead of giving up after 5.
const resuming = "&connect_timeout=20"

// auroraDatabase declares an Aurora Serverless v2 cluster in a VPC without internet access; see
// docs/decisions/007-database-on-aws.md for the reasons.
func (s *Stack) auroraDatabase() database {
	vpc := s.vpc()
	functions := awsec2.NewSecurityGroup(s.Stack, jsii.String("FunctionsSecurityGroup"), &awsec2.SecurityGroupProps{
		Vpc: vpc, Description: jsii.String("Functions that use the database"), AllowAllOutbound: jsii.Bool(false),
	})
	servers := awsec2.NewSecurityGroup(s.Stack, jsii.String("DatabaseSecurityGroup"), &awsec2.SecurityGroupProps{
		Vpc: vpc, Description: jsii.String("The database"), AllowAllOutbound: jsii.Bool(false),
	})
	postgres := awsec2.Port_Tcp(jsii.Number(databasePort))
	servers.AddIngressRule(functions, postgres, jsii.String("functions"), nil)
	functions.AddEgressRule(servers, postgres, jsii.String("database"), nil)
	functions.AddEgressRule(awsec2.Peer_AnyIpv4(), awsec2.Port_Tcp(jsii.Number(443)),
		jsii.String("HTTPS to S3 and DynamoDB through the gateway endpoints; no other route exists"), nil)

	if sink := s.Environment.Relay.Service(); sink != "" {
		s.sinkEndpoint(vpc, functions, sink)
	}

	cluster := s.newCluster(vpc, servers)
	s.cluster = *cluster.ClusterIdentifier()
	options := sessions
	if s.Environment.Database.MinCapacity == 0 {
		options += resuming
	}
	return database{
		url: jsii.String(fmt.Sprintf("postgres+iam://%s@%s:%d/%s?%s", databaseUser,
			*cluster.ClusterEndpoint().Hostname(), databasePort, databaseName, options)),
		access: allow([]string{"rds-db:connect"}, s.databaseUserARN(cluster)),
		vpc: &awslambda.CfnFunction_VpcConfigProperty{
			SubnetIds: vpc.SelectSubnets(nil).SubnetIds, SecurityGroupIds: &[]*string{functions.SecurityGroupId()},
		},
		dependencies: []awscdk.CfnResource{s.databaseLogin(cluster)},
	}
}

func (s *Stack) databaseUserARN(cluster awsrds.DatabaseCluster) *string {
	return s.FormatArn(&awscdk.ArnComponents{
		Service: jsii.String("rds-db"), Resource: jsii.String("dbuser"),
		ArnFormat:    awscdk.ArnFormat_COLON_RESOURCE_NAME,
		ResourceName: jsii.String(strings.Join([]string{*cluster.ClusterResourceIdentifier(), databaseUser}, "/")),
	})
}

// vpc declares a VPC with isolated subnets in two zones and gateway endpoints for S3 and DynamoDB, which are free.
func (s *Stack) vpc() awsec2.Vpc {
	return awsec2.NewVpc(s.Stack, jsii.String("Network"), &awsec2.VpcProps{
		MaxAzs: jsii.Number(2), NatGateways: jsii.Number(0),
		SubnetConfiguration: &[]*awsec2.SubnetConfiguration{{
			Name: jsii.String("isolated"), SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED, CidrMask: jsii.Number(20),
		}},
		GatewayEndpoints: &map[string]*awsec2.GatewayVpcEndpointOptions{
			"S3":       {Service: awsec2.GatewayVpcEndpointAwsService_S3()},
			"DynamoDB": {Service: awsec2.GatewayVpcEndpointAwsService_DYNAMODB()},
		},
	})
}

// sinkEndpoint lets the relay reach the service that it sends to. One zone is enough: if the zone fails, messages
// wait and are not lost.
func (s *Stack) sinkEndpoint(vpc awsec2.Vpc, functions awsec2.SecurityGroup, service string) {
	group := awsec2.NewSecurityGroup(s.Stack, jsii.String("SinkSecurityGroup"), &awsec2.SecurityGroupProps{
		Vpc: vpc, Description: jsii.String("The endpoint of what the outbox is relayed to"),
		AllowAllOutbound: jsii.Bool(false),
	})
	group.AddIngressRule(functions, awsec2.Port_Tcp(jsii.Number(443)), jsii.String("functions"), nil)
	vpc.AddInterfaceEndpoint(jsii.String("Sink"), &awsec2.InterfaceVpcEndpointOptions{
		Service:        awsec2.NewInterfaceVpcEndpointAwsService(jsii.String(service), nil, nil, nil),
		Subnets:        &awsec2.SubnetSelection{Subnets: &[]awsec2.ISubnet{(*vpc.IsolatedSubnets())[0]}},
		SecurityGroups: &[]awsec2.ISecurityGroup{group},
	})
}

func (s *Stack) newCluster(vpc awsec2.IVpc, group awsec2.ISecurityGroup) awsrds.DatabaseCluster {
	d := s.Environment.Database
	props := &awsrds.DatabaseClusterProps{
		Engine: awsrds.DatabaseClusterEngine_AuroraPostgres(&awsrds.AuroraPostgresClusterEngineProps{
			Version: awsrds.AuroraPostgresEngineVersion_VER_17_7(),
		}),
		Vpc: vpc, VpcSubnets: &awsec2.SubnetSelection{SubnetType: awsec2.SubnetType_PRIVATE_ISOLATED},
		SecurityGroups:            &[]awsec2.ISecurityGroup{group},
		DefaultDatabaseName:       jsii.String(databaseName),
		Credentials:               awsrds.Credentials_FromUsername(jsii.String("postgres"), nil),
		ManageMasterUserPassword:  jsii.Bool(true),
		IamAuthentication:         jsii.Bool(true),
		EnableDataApi:             jsii.Bool(true),
		StorageEncrypted:          jsii.Bool(true),
		Port:                      jsii.Number(databasePort),
		Backup:                    &awsrds.BackupProps{Retention: awscdk.Duration_Days(jsii.Number(d.BackupDays))},
		CopyTagsToSnapshot:        jsii.Bool(true),
		AutoMinorVersionUpgrade:   jsii.Bool(false),                  // the version is pinned above
		EnablePerformanceInsights: jsii.Bool(s.Environment.KeepData), // seven days are free
		DeletionProtection:        jsii.Bool(s.Environment.KeepData),
		RemovalPolicy:             awscdk.RemovalPolicy_DESTROY,
		ServerlessV2MinCapacity:   jsii.Number(d.MinCapacity),
		ServerlessV2MaxCapacity:   jsii.Number(d.MaxCapacity),
		Writer: awsrds.ClusterInstance_ServerlessV2(jsii.String("Writer"), &awsrds.ServerlessV2ClusterInstanceProps{
			EnablePerformanceInsights: jsii.Bool(s.Environment.KeepData),
		}),
	}
	if d.MinCapacity == 0 {
		props.ServerlessV2AutoPauseDuration = awscdk.Duration_Seconds(jsii.Number(d.AutoPause.Seconds()))
	}
	if s.Environment.KeepData {
		props.RemovalPolicy = awscdk.RemovalPolicy_SNAPSHOT
	}
	readers := make([]awsrds.IClusterInstance, 0, d.Readers)
	for i := range d.Readers {
		readers = append(readers, awsrds.ClusterInstance_ServerlessV2(jsii.String(fmt.Sprintf("Reader%d", i+1)),
			&awsrds.ServerlessV2ClusterInstanceProps{ScaleWithWriter: jsii.Bool(true),
				EnablePerformanceInsights: jsii.Bool(s.Environment.KeepData)}))
	}
	props.Readers = &readers
	return awsrds.NewDatabaseCluster(s.Stack, jsii.String("Database"), props)
}
