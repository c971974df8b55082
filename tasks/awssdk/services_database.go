package awssdk

import (
	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/databasemigrationservice"
	"github.com/aws/aws-sdk-go-v2/service/datasync"
	"github.com/aws/aws-sdk-go-v2/service/elasticache"
	"github.com/aws/aws-sdk-go-v2/service/rds"
	"github.com/aws/aws-sdk-go-v2/service/redshift"
	"github.com/aws/aws-sdk-go-v2/service/redshiftserverless"
	"github.com/aws/aws-sdk-go-v2/service/timestreamwrite"
)

// databaseServices run databases and copy what is in them. Of the large ones only what state machines call is here.
var databaseServices = []Service{
	{
		Name: "databasemigration", ID: "Database Migration Service", Variable: "DATABASE_MIGRATION_SERVICE_ENDPOINT",
		Class: "DatabaseMigration",
		Client: func(cfg aws.Config) any {
			c := databasemigrationservice.NewFromConfig(cfg)
			return actions{
				c.CreateReplicationTask, c.DeleteReplicationTask, c.DescribeConnections, c.DescribeEndpoints,
				c.DescribeReplicationInstances, c.DescribeReplicationTasks, c.DescribeReplications,
				c.DescribeTableStatistics,
				c.ReloadTables, c.StartReplication, c.StartReplicationTask, c.StopReplication, c.StopReplicationTask,
				c.TestConnection,
			}
		},
	},
	{
		Name: "datasync", ID: "DataSync", Variable: "DATASYNC_ENDPOINT", Class: "DataSync",
		Client: func(cfg aws.Config) any {
			c := datasync.NewFromConfig(cfg)
			return actions{
				c.CancelTaskExecution, c.CreateTask, c.DeleteTask, c.DescribeTask, c.DescribeTaskExecution,
				c.ListTaskExecutions,
				c.ListTasks, c.StartTaskExecution, c.UpdateTask,
			}
		},
	},
	{
		Name: "elasticache", ID: "ElastiCache", Variable: "ELASTICACHE_ENDPOINT", Class: "ElastiCache",
		Client: func(cfg aws.Config) any {
			c := elasticache.NewFromConfig(cfg)
			return actions{
				c.CreateCacheCluster, c.CreateReplicationGroup, c.CreateSnapshot, c.DeleteCacheCluster,
				c.DeleteReplicationGroup,
				c.DeleteSnapshot, c.DescribeCacheClusters, c.DescribeReplicationGroups, c.DescribeServerlessCaches,
				c.DescribeSnapshots, c.ModifyCacheCluster, c.ModifyReplicationGroup, c.RebootCacheCluster,
			}
		},
	},
	{
		Name: "rds", ID: "RDS", Variable: "RDS_ENDPOINT", Class: "Rds",
		Client: func(cfg aws.Config) any {
			c := rds.NewFromConfig(cfg)
			return actions{
				c.AddTagsToResource, c.CreateDBClusterSnapshot, c.CreateDBInstance, c.CreateDBSnapshot,
				c.DeleteDBCluster,
				c.DeleteDBClusterSnapshot, c.DeleteDBInstance, c.DeleteDBSnapshot, c.DescribeDBClusterSnapshots,
				c.DescribeDBClusters,
				c.DescribeDBInstances, c.DescribeDBSnapshots, c.DescribeEvents, c.DescribeExportTasks,
				c.FailoverDBCluster,
				c.ListTagsForResource, c.ModifyDBCluster, c.ModifyDBClusterSnapshotAttribute, c.ModifyDBInstance,
				c.ModifyDBSnapshotAttribute, c.PromoteReadReplica, c.RebootDBInstance, c.RestoreDBClusterFromSnapshot,
				c.RestoreDBClusterToPointInTime, c.RestoreDBInstanceFromDBSnapshot, c.RestoreDBInstanceToPointInTime,
				c.StartDBCluster,
				c.StartDBInstance, c.StartExportTask, c.StopDBCluster, c.StopDBInstance,
			}
		},
	},
	{
		Name: "redshift", ID: "Redshift", Variable: "REDSHIFT_ENDPOINT", Class: "Redshift",
		Client: func(cfg aws.Config) any {
			c := redshift.NewFromConfig(cfg)
			return actions{
				c.CreateClusterSnapshot, c.DeleteClusterSnapshot, c.DescribeClusterSnapshots, c.DescribeClusters,
				c.GetClusterCredentials, c.PauseCluster, c.ResizeCluster, c.RestoreFromClusterSnapshot, c.ResumeCluster,
			}
		},
	},
	{
		Name: "redshiftserverless", ID: "Redshift Serverless", Variable: "REDSHIFT_SERVERLESS_ENDPOINT",
		Class: "RedshiftServerless",
		Client: func(cfg aws.Config) any {
			c := redshiftserverless.NewFromConfig(cfg)
			return actions{
				c.CreateSnapshot, c.GetCredentials, c.GetNamespace, c.GetSnapshot, c.GetWorkgroup, c.ListNamespaces,
				c.ListWorkgroups,
				c.RestoreFromSnapshot, c.UpdateWorkgroup,
			}
		},
	},
	{
		Name: "timestreamwrite", ID: "Timestream Write", Variable: "TIMESTREAM_WRITE_ENDPOINT",
		Class: "TimestreamWrite",
		Client: func(cfg aws.Config) any {
			c := timestreamwrite.NewFromConfig(cfg)
			return actions{
				c.WriteRecords,
			}
		},
	},
}
