// Written by scripts/generate-table.mjs from the facts in tooling/kube-facts. Do not edit.
// Derived from the struct tags of k8s.io/api and its siblings, Copyright The Kubernetes Authors, Apache-2.0.

/** Kubernetes release whose discovery the kinds are those of. */
export const release: string = "1.36.3";

/** One line for each kind. */
export const kinds: string = `,v1,Binding,bindings,binding,,,n,c,,1
,v1,ComponentStatus,componentstatuses,componentstatus,cs,,,gl,,2
,v1,ConfigMap,configmaps,configmap,cm,,n,cdDglpuw,,3
,v1,Endpoints,endpoints,endpoints,ep,,n,cdDglpuw,,4
,v1,Event,events,event,ev,,n,cdDglpuw,,5
,v1,LimitRange,limitranges,limitrange,limits,,n,cdDglpuw,,6
,v1,Namespace,namespaces,namespace,ns,,,cdglpuw,finalize::v1:Namespace:u+status::v1:Namespace:gpu,7
,v1,Node,nodes,node,no,,,cdDglpuw,proxy::v1:NodeProxyOptions:cdgpu+status::v1:Node:gpu,8
,v1,PersistentVolume,persistentvolumes,persistentvolume,pv,,,cdDglpuw,status::v1:PersistentVolume:gpu,9
,v1,PersistentVolumeClaim,persistentvolumeclaims,persistentvolumeclaim,pvc,,n,cdDglpuw,status::v1:PersistentVolumeClaim:gpu,10
,v1,Pod,pods,pod,po,all,n,cdDglpuw,attach::v1:PodAttachOptions:cg+binding::v1:Binding:c+ephemeralcontainers::v1:Pod:gpu+eviction:policy:v1:Eviction:c+exec::v1:PodExecOptions:cg+log::v1:Pod:g+portforward::v1:PodPortForwardOptions:cg+proxy::v1:PodProxyOptions:cdgpu+resize::v1:Pod:gpu+status::v1:Pod:gpu,11
,v1,PodTemplate,podtemplates,podtemplate,,,n,cdDglpuw,,12
,v1,ReplicationController,replicationcontrollers,replicationcontroller,rc,all,n,cdDglpuw,scale:autoscaling:v1:Scale:gpu+status::v1:ReplicationController:gpu,13
,v1,ResourceQuota,resourcequotas,resourcequota,quota,,n,cdDglpuw,status::v1:ResourceQuota:gpu,14
,v1,Secret,secrets,secret,,,n,cdDglpuw,,15
,v1,Service,services,service,svc,all,n,cdDglpuw,proxy::v1:ServiceProxyOptions:cdgpu+status::v1:Service:gpu,16
,v1,ServiceAccount,serviceaccounts,serviceaccount,sa,,n,cdDglpuw,token:authentication.k8s.io:v1:TokenRequest:c,17
apiregistration.k8s.io,v1,APIService,apiservices,apiservice,,api-extensions,,cdDglpuw,status:apiregistration.k8s.io:v1:APIService:gpu,18
apps,v1,ControllerRevision,controllerrevisions,controllerrevision,,,n,cdDglpuw,,19
apps,v1,DaemonSet,daemonsets,daemonset,ds,all,n,cdDglpuw,status:apps:v1:DaemonSet:gpu,20
apps,v1,Deployment,deployments,deployment,deploy,all,n,cdDglpuw,scale:autoscaling:v1:Scale:gpu+status:apps:v1:Deployment:gpu,21
apps,v1,ReplicaSet,replicasets,replicaset,rs,all,n,cdDglpuw,scale:autoscaling:v1:Scale:gpu+status:apps:v1:ReplicaSet:gpu,22
apps,v1,StatefulSet,statefulsets,statefulset,sts,all,n,cdDglpuw,scale:autoscaling:v1:Scale:gpu+status:apps:v1:StatefulSet:gpu,23
events.k8s.io,v1,Event,events,event,ev,,n,cdDglpuw,,24
authentication.k8s.io,v1,SelfSubjectReview,selfsubjectreviews,selfsubjectreview,,,,c,,25
authentication.k8s.io,v1,TokenReview,tokenreviews,tokenreview,,,,c,,26
authorization.k8s.io,v1,LocalSubjectAccessReview,localsubjectaccessreviews,localsubjectaccessreview,,,n,c,,27
authorization.k8s.io,v1,SelfSubjectAccessReview,selfsubjectaccessreviews,selfsubjectaccessreview,,,,c,,28
authorization.k8s.io,v1,SelfSubjectRulesReview,selfsubjectrulesreviews,selfsubjectrulesreview,,,,c,,29
authorization.k8s.io,v1,SubjectAccessReview,subjectaccessreviews,subjectaccessreview,,,,c,,30
autoscaling,v1,HorizontalPodAutoscaler,horizontalpodautoscalers,horizontalpodautoscaler,hpa,all,n,cdDglpuw,status:autoscaling:v1:HorizontalPodAutoscaler:gpu,31
autoscaling,v2,HorizontalPodAutoscaler,horizontalpodautoscalers,horizontalpodautoscaler,hpa,all,n,cdDglpuw,status:autoscaling:v2:HorizontalPodAutoscaler:gpu,32
batch,v1,CronJob,cronjobs,cronjob,cj,all,n,cdDglpuw,status:batch:v1:CronJob:gpu,33
batch,v1,Job,jobs,job,,all,n,cdDglpuw,status:batch:v1:Job:gpu,34
certificates.k8s.io,v1,CertificateSigningRequest,certificatesigningrequests,certificatesigningrequest,csr,,,cdDglpuw,approval:certificates.k8s.io:v1:CertificateSigningRequest:gpu+status:certificates.k8s.io:v1:CertificateSigningRequest:gpu,35
networking.k8s.io,v1,IPAddress,ipaddresses,ipaddress,ip,,,cdDglpuw,,36
networking.k8s.io,v1,Ingress,ingresses,ingress,ing,,n,cdDglpuw,status:networking.k8s.io:v1:Ingress:gpu,37
networking.k8s.io,v1,IngressClass,ingressclasses,ingressclass,,,,cdDglpuw,,38
networking.k8s.io,v1,NetworkPolicy,networkpolicies,networkpolicy,netpol,,n,cdDglpuw,,39
networking.k8s.io,v1,ServiceCIDR,servicecidrs,servicecidr,,,,cdDglpuw,status:networking.k8s.io:v1:ServiceCIDR:gpu,40
policy,v1,PodDisruptionBudget,poddisruptionbudgets,poddisruptionbudget,pdb,,n,cdDglpuw,status:policy:v1:PodDisruptionBudget:gpu,41
rbac.authorization.k8s.io,v1,ClusterRole,clusterroles,clusterrole,,,,cdDglpuw,,42
rbac.authorization.k8s.io,v1,ClusterRoleBinding,clusterrolebindings,clusterrolebinding,,,,cdDglpuw,,43
rbac.authorization.k8s.io,v1,Role,roles,role,,,n,cdDglpuw,,44
rbac.authorization.k8s.io,v1,RoleBinding,rolebindings,rolebinding,,,n,cdDglpuw,,45
storage.k8s.io,v1,CSIDriver,csidrivers,csidriver,,,,cdDglpuw,,46
storage.k8s.io,v1,CSINode,csinodes,csinode,,,,cdDglpuw,,47
storage.k8s.io,v1,CSIStorageCapacity,csistoragecapacities,csistoragecapacity,,,n,cdDglpuw,,48
storage.k8s.io,v1,StorageClass,storageclasses,storageclass,sc,,,cdDglpuw,,49
storage.k8s.io,v1,VolumeAttachment,volumeattachments,volumeattachment,,,,cdDglpuw,status:storage.k8s.io:v1:VolumeAttachment:gpu,50
storage.k8s.io,v1,VolumeAttributesClass,volumeattributesclasses,volumeattributesclass,vac,,,cdDglpuw,,51
admissionregistration.k8s.io,v1,MutatingAdmissionPolicy,mutatingadmissionpolicies,mutatingadmissionpolicy,,api-extensions,,cdDglpuw,,52
admissionregistration.k8s.io,v1,MutatingAdmissionPolicyBinding,mutatingadmissionpolicybindings,mutatingadmissionpolicybinding,,api-extensions,,cdDglpuw,,53
admissionregistration.k8s.io,v1,MutatingWebhookConfiguration,mutatingwebhookconfigurations,mutatingwebhookconfiguration,,api-extensions,,cdDglpuw,,54
admissionregistration.k8s.io,v1,ValidatingAdmissionPolicy,validatingadmissionpolicies,validatingadmissionpolicy,,api-extensions,,cdDglpuw,status:admissionregistration.k8s.io:v1:ValidatingAdmissionPolicy:gpu,55
admissionregistration.k8s.io,v1,ValidatingAdmissionPolicyBinding,validatingadmissionpolicybindings,validatingadmissionpolicybinding,,api-extensions,,cdDglpuw,,56
admissionregistration.k8s.io,v1,ValidatingWebhookConfiguration,validatingwebhookconfigurations,validatingwebhookconfiguration,,api-extensions,,cdDglpuw,,57
apiextensions.k8s.io,v1,CustomResourceDefinition,customresourcedefinitions,customresourcedefinition,crd+crds,api-extensions,,cdDglpuw,status:apiextensions.k8s.io:v1:CustomResourceDefinition:gpu,58
scheduling.k8s.io,v1,PriorityClass,priorityclasses,priorityclass,pc,,,cdDglpuw,,59
coordination.k8s.io,v1,Lease,leases,lease,,,n,cdDglpuw,,60
node.k8s.io,v1,RuntimeClass,runtimeclasses,runtimeclass,,,,cdDglpuw,,61
discovery.k8s.io,v1,EndpointSlice,endpointslices,endpointslice,,,n,cdDglpuw,,62
resource.k8s.io,v1,DeviceClass,deviceclasses,deviceclass,,,,cdDglpuw,,63
resource.k8s.io,v1,ResourceClaim,resourceclaims,resourceclaim,,,n,cdDglpuw,status:resource.k8s.io:v1:ResourceClaim:gpu,64
resource.k8s.io,v1,ResourceClaimTemplate,resourceclaimtemplates,resourceclaimtemplate,,,n,cdDglpuw,,65
resource.k8s.io,v1,ResourceSlice,resourceslices,resourceslice,,,,cdDglpuw,,66
flowcontrol.apiserver.k8s.io,v1,FlowSchema,flowschemas,flowschema,,,,cdDglpuw,status:flowcontrol.apiserver.k8s.io:v1:FlowSchema:gpu,67
flowcontrol.apiserver.k8s.io,v1,PriorityLevelConfiguration,prioritylevelconfigurations,prioritylevelconfiguration,,,,cdDglpuw,status:flowcontrol.apiserver.k8s.io:v1:PriorityLevelConfiguration:gpu,68`;

/** Types of request bodies that are not kinds of a resource: name and index. */
export const bodies: string = `Scale,69
Eviction,70
TokenRequest,71
APIGroupDiscoveryList,72
DeleteOptions,73
CreateOptions,74
UpdateOptions,75
PatchOptions,76
GetOptions,77
ListOptions,78
Status,79
ListMeta,80
PartialObjectMetadata,81
APIVersions,82
APIGroup,83
APIGroupList,84
APIResourceList,85`;

/** One line for each type. The first is ObjectMeta. */
export const types: string = String.raw`v1.ObjectMeta	name,s,eo,1|generateName,s,eo,2|namespace,s,eo,3|selfLink,s,eo,4|uid,#86,eo,5|resourceVersion,s,eo,6|generation,l,eo,7|creationTimestamp,t,ezo,8|deletionTimestamp,*t,eo,9|deletionGracePeriodSeconds,*l,eo,10|labels,{s,eo,11|annotations,{s,eo,12|ownerReferences,[#87,eo,13,pmerge,kuid,lmap,Kuid|finalizers,[s,eo,14,pmerge,lset|managedFields,[#88,eo,17,latomic
v1.Binding	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|target,#89,,2
v1.ComponentStatus	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|conditions,[#90,eo,2,pmerge,ktype,lmap,Ktype
v1.ConfigMap	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|immutable,*b,eo,4|data,{s,eo,2|binaryData,{y,eo,3
v1.Endpoints	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|subsets,[#91,eo,2,latomic
v1.Event	kind,s,eo,|apiVersion,s,eo,|metadata,#0,,1|involvedObject,#89,,2|reason,s,eo,3|message,s,eo,4|source,#92,eo,5|firstTimestamp,t,eo,6|lastTimestamp,t,eo,7|count,i,eo,8|type,s,eo,9|eventTime,u,eo,10|series,*#93,eo,11|action,s,eo,12|related,*#89,eo,13|reportingComponent,s,o,14|reportingInstance,s,o,15
v1.LimitRange	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#94,eo,2
v1.Namespace	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#95,eo,2|status,#96,eo,3
v1.Node	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#97,eo,2|status,#98,eo,3
v1.PersistentVolume	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#99,eo,2|status,#100,eo,3
v1.PersistentVolumeClaim	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#101,eo,2|status,#102,eo,3
v1.Pod	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#103,eo,2|status,#104,eo,3
v1.PodTemplate	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|template,#105,eo,2
v1.ReplicationController	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#106,eo,2|status,#107,eo,3
v1.ResourceQuota	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#108,eo,2|status,#109,eo,3
v1.Secret	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|immutable,*b,eo,5|data,{y,eo,2|stringData,{s,eo,4|type,#110,eo,3
v1.Service	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#111,eo,2|status,#112,eo,3
v1.ServiceAccount	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|secrets,[#89,eo,2,pmerge,kname,lmap,Kname|imagePullSecrets,[#113,eo,3,latomic|automountServiceAccountToken,*b,eo,4
v1.APIService	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#114,eo,2|status,#115,eo,3
v1.ControllerRevision	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|data,R,,2|revision,l,o,3
v1.DaemonSet	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#116,eo,2|status,#117,eo,3
v1.Deployment	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#118,eo,2|status,#119,eo,3
v1.ReplicaSet	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#120,eo,2|status,#121,eo,3
v1.StatefulSet	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#122,eo,2|status,#123,eo,3
v1.Event	kind,s,eo,|apiVersion,s,eo,|metadata,#0,o,1|eventTime,u,,2|series,*#124,eo,3|reportingController,s,eo,4|reportingInstance,s,eo,5|action,s,eo,6|reason,s,eo,7|regarding,#89,eo,8|related,*#89,eo,9|note,s,eo,10|type,s,eo,11|deprecatedSource,#92,eo,12|deprecatedFirstTimestamp,t,eo,13|deprecatedLastTimestamp,t,eo,14|deprecatedCount,i,eo,15
v1.SelfSubjectReview	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|status,#125,eo,2
v1.TokenReview	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#126,,2|status,#127,eo,3
v1.LocalSubjectAccessReview	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#128,,2|status,#129,eo,3
v1.SelfSubjectAccessReview	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#130,,2|status,#129,eo,3
v1.SelfSubjectRulesReview	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#131,,2|status,#132,eo,3
v1.SubjectAccessReview	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#128,,2|status,#129,eo,3
v1.HorizontalPodAutoscaler	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#133,eo,2|status,#134,eo,3
v2.HorizontalPodAutoscaler	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#135,eo,2|status,#136,eo,3
v1.CronJob	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#137,eo,2|status,#138,eo,3
v1.Job	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#139,eo,2|status,#140,eo,3
v1.CertificateSigningRequest	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#141,,2|status,#142,eo,3
v1.IPAddress	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#143,eo,2
v1.Ingress	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#144,eo,2|status,#145,eo,3
v1.IngressClass	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#146,eo,2
v1.NetworkPolicy	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#147,eo,2
v1.ServiceCIDR	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#148,eo,2|status,#149,eo,3
v1.PodDisruptionBudget	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#150,eo,2|status,#151,eo,3
v1.ClusterRole	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|rules,[#152,o,2,latomic|aggregationRule,*#153,eo,3
v1.ClusterRoleBinding	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|subjects,[#154,eo,2,latomic|roleRef,#155,,3
v1.Role	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|rules,[#152,o,2,latomic
v1.RoleBinding	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|subjects,[#154,eo,2,latomic|roleRef,#155,,3
v1.CSIDriver	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#156,,2
v1.CSINode	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#157,,2|status,#158,eo,3
v1.CSIStorageCapacity	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|nodeTopology,*#159,eo,2|storageClassName,s,,3|capacity,*q,eo,4|maximumVolumeSize,*q,eo,5
v1.StorageClass	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|provisioner,s,,2|parameters,{s,eo,3|reclaimPolicy,*#160,eo,4|mountOptions,[s,eo,5,latomic|allowVolumeExpansion,*b,eo,6|volumeBindingMode,*#161,eo,7|allowedTopologies,[#162,eo,8,latomic
v1.VolumeAttachment	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#163,,2|status,#164,eo,3
v1.VolumeAttributesClass	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|driverName,s,,2|parameters,{s,eo,3
v1.MutatingAdmissionPolicy	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#165,eo,2
v1.MutatingAdmissionPolicyBinding	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#166,eo,2
v1.MutatingWebhookConfiguration	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|webhooks,[#167,eo,2,pmerge,kname,lmap,Kname
v1.ValidatingAdmissionPolicy	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#168,eo,2|status,#169,eo,3
v1.ValidatingAdmissionPolicyBinding	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#170,eo,2
v1.ValidatingWebhookConfiguration	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|webhooks,[#171,eo,2,pmerge,kname,lmap,Kname
v1.CustomResourceDefinition	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#172,,2|status,#173,eo,3
v1.PriorityClass	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|value,i,o,2|globalDefault,b,eo,3|description,s,eo,4|preemptionPolicy,*#174,eo,5
v1.Lease	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#175,eo,2
v1.RuntimeClass	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|handler,s,,2|overhead,*#176,eo,3|scheduling,*#177,eo,4
v1.EndpointSlice	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|addressType,#178,,4|endpoints,[#179,o,2,latomic|ports,[#180,o,3,latomic
v1.DeviceClass	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#181,o,2
v1.ResourceClaim	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#182,o,2|status,#183,eo,3
v1.ResourceClaimTemplate	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#184,o,2
v1.ResourceSlice	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#185,,2
v1.FlowSchema	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#186,eo,2|status,#187,eo,3
v1.PriorityLevelConfiguration	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#188,eo,2|status,#189,eo,3
v1.Scale	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#190,eo,2|status,#191,eo,3
v1.Eviction	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|deleteOptions,*#73,eo,2
v1.TokenRequest	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|spec,#192,o,2|status,#193,eo,3
v2.APIGroupDiscoveryList	kind,s,eo,|apiVersion,s,eo,|metadata,#80,eo,1|items,[#194,o,2
v1.DeleteOptions	kind,s,eo,|apiVersion,s,eo,|gracePeriodSeconds,*l,eo,1|preconditions,*#195,eo,2|orphanDependents,*b,eo,3|propagationPolicy,*#196,eo,4|dryRun,[s,eo,5,latomic|ignoreStoreReadErrorWithClusterBreakingPotential,*b,eo,6
v1.CreateOptions	kind,s,eo,|apiVersion,s,eo,|dryRun,[s,eo,1,latomic|fieldManager,s,eo,3|fieldValidation,s,eo,4
v1.UpdateOptions	kind,s,eo,|apiVersion,s,eo,|dryRun,[s,eo,1,latomic|fieldManager,s,eo,2|fieldValidation,s,eo,3
v1.PatchOptions	kind,s,eo,|apiVersion,s,eo,|dryRun,[s,eo,1,latomic|force,*b,eo,2|fieldManager,s,eo,3|fieldValidation,s,eo,4
v1.GetOptions	kind,s,eo,|apiVersion,s,eo,|resourceVersion,s,eo,1
v1.ListOptions	kind,s,eo,|apiVersion,s,eo,|labelSelector,s,eo,1|fieldSelector,s,eo,2|watch,b,eo,3|allowWatchBookmarks,b,eo,9|resourceVersion,s,eo,4|resourceVersionMatch,#197,eo,10|timeoutSeconds,*l,eo,5|limit,l,eo,7|continue,s,eo,8|sendInitialEvents,*b,eo,11|shardSelector,s,eo,15
v1.Status	kind,s,eo,|apiVersion,s,eo,|metadata,#80,eo,1|status,s,eo,2|message,s,eo,3|reason,#198,eo,4|details,*#199,eo,5|code,i,eo,6
v1.ListMeta	selfLink,s,eo,1|resourceVersion,s,eo,2|continue,s,eo,3|remainingItemCount,*l,eo,4|shardInfo,*#200,eo,5
v1.PartialObjectMetadata	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1
v1.APIVersions	kind,s,eo,|apiVersion,s,eo,|versions,[s,,1,latomic|serverAddressByClientCIDRs,[#201,,2,latomic
v1.APIGroup	kind,s,eo,|apiVersion,s,eo,|name,s,,1|versions,[#202,,2,latomic|preferredVersion,#202,eo,3|serverAddressByClientCIDRs,[#201,eo,4,latomic
v1.APIGroupList	kind,s,eo,|apiVersion,s,eo,|groups,[#83,,1,latomic
v1.APIResourceList	kind,s,eo,|apiVersion,s,eo,|groupVersion,s,,1|resources,[#203,,2,latomic
types.UID	=s
v1.OwnerReference	apiVersion,s,,5|kind,s,,1|name,s,,3|uid,#86,,4|controller,*b,eo,6|blockOwnerDeletion,*b,eo,7
v1.ManagedFieldsEntry	manager,s,eo,1|operation,#204,eo,2|apiVersion,s,eo,3|time,*t,eo,4|fieldsType,s,eo,6|fieldsV1,*a,eo,7|subresource,s,eo,8
v1.ObjectReference	kind,s,eo,1|namespace,s,eo,2|name,s,eo,3|uid,#86,eo,4|apiVersion,s,eo,5|resourceVersion,s,eo,6|fieldPath,s,eo,7
v1.ComponentCondition	type,#205,,1|status,#206,,2|message,s,eo,3|error,s,eo,4
v1.EndpointSubset	addresses,[#207,eo,1,latomic|notReadyAddresses,[#207,eo,2,latomic|ports,[#208,eo,3,latomic
v1.EventSource	component,s,eo,1|host,s,eo,2
v1.EventSeries	count,i,eo,1|lastObservedTime,u,eo,2
v1.LimitRangeSpec	limits,[#209,,1,latomic
v1.NamespaceSpec	finalizers,[#210,eo,1,latomic
v1.NamespaceStatus	phase,#211,eo,1|conditions,[#212,eo,2,pmerge,ktype,lmap,Ktype
v1.NodeSpec	podCIDR,s,eo,1|podCIDRs,[s,eo,7,pmerge,lset|providerID,s,eo,3|unschedulable,b,eo,4|taints,[#213,eo,5,latomic|configSource,*#214,eo,6|externalID,s,eo,2|podPreemptionPolicy,*#215,eo,8
v1.NodeStatus	capacity,#216,eo,1|allocatable,#216,eo,2|phase,#217,eo,3|conditions,[#218,eo,4,pmerge,ktype,lmap,Ktype|addresses,[#219,eo,5,pmerge,ktype,lmap,Ktype|daemonEndpoints,#220,eo,6|nodeInfo,#221,eo,7|images,[#222,eo,8,latomic|volumesInUse,[#223,eo,9,latomic|volumesAttached,[#224,eo,10,latomic|config,*#225,eo,11|runtimeHandlers,[#226,eo,12,latomic|features,*#227,eo,13|declaredFeatures,[s,eo,14,latomic
v1.PersistentVolumeSpec	capacity,#216,eo,1|gcePersistentDisk,*#228,eo,2.1|awsElasticBlockStore,*#229,eo,2.2|hostPath,*#230,eo,2.3|glusterfs,*#231,eo,2.4|nfs,*#232,eo,2.5|rbd,*#233,eo,2.6|iscsi,*#234,eo,2.7|cinder,*#235,eo,2.8|cephfs,*#236,eo,2.9|fc,*#237,eo,2.10|flocker,*#238,eo,2.11|flexVolume,*#239,eo,2.12|azureFile,*#240,eo,2.13|vsphereVolume,*#241,eo,2.14|quobyte,*#242,eo,2.15|azureDisk,*#243,eo,2.16|photonPersistentDisk,*#244,eo,2.17|portworxVolume,*#245,eo,2.18|scaleIO,*#246,eo,2.19|local,*#247,eo,2.20|storageos,*#248,eo,2.21|csi,*#249,eo,2.22|accessModes,[#250,eo,3,latomic|claimRef,*#89,eo,4,mgranular|persistentVolumeReclaimPolicy,#160,eo,5|storageClassName,s,eo,6|mountOptions,[s,eo,7,latomic|volumeMode,*#251,eo,8|nodeAffinity,*#252,eo,9|volumeAttributesClassName,*s,eo,10
v1.PersistentVolumeStatus	phase,#253,eo,1|message,s,eo,2|reason,s,eo,3|lastPhaseTransitionTime,*t,eo,4
v1.PersistentVolumeClaimSpec	accessModes,[#250,eo,1,latomic|selector,*#159,eo,4|resources,#254,eo,2|volumeName,s,eo,3|storageClassName,*s,eo,5|volumeMode,*#251,eo,6|dataSource,*#255,eo,7|dataSourceRef,*#256,eo,8|volumeAttributesClassName,*s,eo,9
v1.PersistentVolumeClaimStatus	phase,#257,eo,1|accessModes,[#250,eo,2,latomic|capacity,#216,eo,3|conditions,[#258,eo,4,pmerge,ktype,lmap,Ktype|allocatedResources,#216,eo,5|allocatedResourceStatuses,{#259,eo,7,mgranular|currentVolumeAttributesClassName,*s,eo,8|modifyVolumeStatus,*#260,eo,9|healthStatus,*#261,eo,10
v1.PodSpec	volumes,[#262,eo,1,pmerge+retainKeys,kname,lmap,Kname|initContainers,[#263,eo,20,pmerge,kname,lmap,Kname|containers,[#263,,2,pmerge,kname,lmap,Kname|ephemeralContainers,[#264,eo,34,pmerge,kname,lmap,Kname|restartPolicy,#265,eo,3|terminationGracePeriodSeconds,*l,eo,4|activeDeadlineSeconds,*l,eo,5|dnsPolicy,#266,eo,6|nodeSelector,{s,eo,7,matomic|serviceAccountName,s,eo,8|serviceAccount,s,eo,9|automountServiceAccountToken,*b,eo,21|nodeName,s,eo,10|hostNetwork,b,eo,11|hostPID,b,eo,12|hostIPC,b,eo,13|shareProcessNamespace,*b,eo,27|securityContext,*#267,eo,14|imagePullSecrets,[#113,eo,15,pmerge,kname,lmap,Kname|hostname,s,eo,16|subdomain,s,eo,17|affinity,*#268,eo,18|schedulerName,s,eo,19|tolerations,[#269,eo,22,latomic|hostAliases,[#270,eo,23,pmerge,kip,lmap,Kip|priorityClassName,s,eo,24|priority,*i,eo,25|dnsConfig,*#271,eo,26|readinessGates,[#272,eo,28,latomic|runtimeClassName,*s,eo,29|enableServiceLinks,*b,eo,30|preemptionPolicy,*#174,eo,31|overhead,#216,eo,32|topologySpreadConstraints,[#273,eo,33,pmerge,ktopologyKey,lmap,KtopologyKey+whenUnsatisfiable|setHostnameAsFQDN,*b,eo,35|os,*#274,eo,36|hostUsers,*b,eo,37|schedulingGates,[#275,eo,38,pmerge,kname,lmap,Kname|resourceClaims,[#276,eo,39,pmerge+retainKeys,kname,lmap,Kname|resources,*#277,eo,40|hostnameOverride,*s,eo,41|schedulingGroup,*#278,eo,43|evictionResponders,[#279,eo,44,pmerge,kname,lmap,Kname
v1.PodStatus	observedGeneration,l,eo,17|phase,#280,eo,1|conditions,[#281,eo,2,pmerge,ktype,lmap,Ktype|message,s,eo,3|reason,s,eo,4|nominatedNodeName,s,eo,11|hostIP,s,eo,5|hostIPs,[#282,eo,16,pmerge,kip,latomic|podIP,s,eo,6|podIPs,[#283,eo,12,pmerge,kip,lmap,Kip|startTime,*t,eo,7|initContainerStatuses,[#284,eo,10,latomic|containerStatuses,[#284,eo,8,latomic|qosClass,#285,eo,9|ephemeralContainerStatuses,[#284,eo,13,latomic|resize,#286,eo,14|resourceClaimStatuses,[#287,eo,15,pmerge+retainKeys,kname,lmap,Kname|extendedResourceClaimStatus,*#288,eo,18|allocatedResources,#216,eo,19|resources,*#277,eo,20|nodeAllocatableResourceClaimStatuses,[#289,eo,21,pmerge,kresourceClaimName,lmap,KresourceClaimName|volumeHealth,[#290,eo,22,lmap,Kname
v1.PodTemplateSpec	metadata,#0,eo,1|spec,#103,eo,2
v1.ReplicationControllerSpec	replicas,*i,eo,1,d1|minReadySeconds,i,eo,4,d0|selector,{s,eo,2,matomic|template,*#105,eo,3
v1.ReplicationControllerStatus	replicas,i,,1|fullyLabeledReplicas,i,eo,2|readyReplicas,i,eo,4|availableReplicas,i,eo,5|observedGeneration,l,eo,3|conditions,[#291,eo,6,pmerge,ktype,lmap,Ktype
v1.ResourceQuotaSpec	hard,#216,eo,1|scopes,[#292,eo,2,latomic|scopeSelector,*#293,eo,3
v1.ResourceQuotaStatus	hard,#216,eo,1|used,#216,eo,2
v1.SecretType	=s
v1.ServiceSpec	ports,[#294,eo,1,pmerge,kport,lmap,Kport+protocol|selector,{s,eo,2,matomic|clusterIP,s,eo,3|clusterIPs,[s,eo,18,latomic|type,#295,eo,4|externalIPs,[s,eo,5,latomic|sessionAffinity,#296,eo,7|loadBalancerIP,s,eo,8|loadBalancerSourceRanges,[s,eo,9,latomic|externalName,s,eo,10|externalTrafficPolicy,#297,eo,11|healthCheckNodePort,i,eo,12|publishNotReadyAddresses,b,eo,13|sessionAffinityConfig,*#298,eo,14|ipFamilies,[#299,eo,19,latomic|ipFamilyPolicy,*#300,eo,17|allocateLoadBalancerNodePorts,*b,eo,20|loadBalancerClass,*s,eo,21|internalTrafficPolicy,*#301,eo,22|trafficDistribution,*s,eo,23
v1.ServiceStatus	loadBalancer,#302,eo,1|conditions,[#303,eo,2,pmerge,ktype,lmap,Ktype
v1.LocalObjectReference	name,s,eo,1,d""
v1.APIServiceSpec	service,*#304,eo,1|group,s,eo,2|version,s,eo,3|insecureSkipTLSVerify,b,eo,4|caBundle,y,eo,5,latomic|groupPriorityMinimum,i,,7|versionPriority,i,,8
v1.APIServiceStatus	conditions,[#305,eo,1,pmerge,ktype,lmap,Ktype
v1.DaemonSetSpec	selector,*#159,,1|template,#105,,2|updateStrategy,#306,eo,3|minReadySeconds,i,eo,4|revisionHistoryLimit,*i,eo,6
v1.DaemonSetStatus	currentNumberScheduled,i,,1|numberMisscheduled,i,,2|desiredNumberScheduled,i,,3|numberReady,i,,4|observedGeneration,l,eo,5|updatedNumberScheduled,i,eo,6|numberAvailable,i,eo,7|numberUnavailable,i,eo,8|collisionCount,*i,eo,9|conditions,[#307,eo,10,pmerge,ktype,lmap,Ktype
v1.DeploymentSpec	replicas,*i,eo,1|selector,*#159,,2|template,#105,,3|strategy,#308,eo,4,pretainKeys|minReadySeconds,i,eo,5|revisionHistoryLimit,*i,eo,6|paused,b,eo,7|progressDeadlineSeconds,*i,eo,9
v1.DeploymentStatus	observedGeneration,l,eo,1|replicas,i,eo,2|updatedReplicas,i,eo,3|readyReplicas,i,eo,7|availableReplicas,i,eo,4|unavailableReplicas,i,eo,5|terminatingReplicas,*i,eo,9|conditions,[#309,eo,6,pmerge,ktype,lmap,Ktype|collisionCount,*i,eo,8
v1.ReplicaSetSpec	replicas,*i,eo,1|minReadySeconds,i,eo,4|selector,*#159,,2|template,#105,eo,3
v1.ReplicaSetStatus	replicas,i,,1|fullyLabeledReplicas,i,eo,2|readyReplicas,i,eo,4|availableReplicas,i,eo,5|terminatingReplicas,*i,eo,7|observedGeneration,l,eo,3|conditions,[#310,eo,6,pmerge,ktype,lmap,Ktype
v1.StatefulSetSpec	replicas,*i,eo,1|selector,*#159,,2|template,#105,,3|volumeClaimTemplates,[#10,eo,4,latomic|serviceName,s,o,5|podManagementPolicy,#311,eo,6|updateStrategy,#312,eo,7|revisionHistoryLimit,*i,eo,8|minReadySeconds,i,eo,9|persistentVolumeClaimRetentionPolicy,*#313,eo,10|ordinals,*#314,eo,11
v1.StatefulSetStatus	observedGeneration,l,eo,1|replicas,i,,2|readyReplicas,i,eo,3|currentReplicas,i,eo,4|updatedReplicas,i,eo,5|currentRevision,s,eo,6|updateRevision,s,eo,7|collisionCount,*i,eo,9|conditions,[#315,eo,10,pmerge,ktype,lmap,Ktype|availableReplicas,i,o,11
v1.EventSeries	count,i,,1|lastObservedTime,u,,2
v1.SelfSubjectReviewStatus	userInfo,#316,eo,1
v1.TokenReviewSpec	token,s,eo,1|audiences,[s,eo,2,latomic
v1.TokenReviewStatus	authenticated,b,eo,1|user,#316,eo,2|audiences,[s,eo,4,latomic|error,s,eo,3
v1.SubjectAccessReviewSpec	resourceAttributes,*#317,eo,1|nonResourceAttributes,*#318,eo,2|user,s,eo,3|groups,[s,eo,4,latomic|extra,{#319,eo,5|uid,s,eo,6
v1.SubjectAccessReviewStatus	allowed,b,,1|denied,b,eo,4|reason,s,eo,2|evaluationError,s,eo,3
v1.SelfSubjectAccessReviewSpec	resourceAttributes,*#317,eo,1|nonResourceAttributes,*#318,eo,2
v1.SelfSubjectRulesReviewSpec	namespace,s,eo,1
v1.SubjectRulesReviewStatus	resourceRules,[#320,,1,latomic|nonResourceRules,[#321,,2,latomic|incomplete,b,,3|evaluationError,s,eo,4
v1.HorizontalPodAutoscalerSpec	scaleTargetRef,#322,,1|minReplicas,*i,eo,2|maxReplicas,i,,3|targetCPUUtilizationPercentage,*i,eo,4
v1.HorizontalPodAutoscalerStatus	observedGeneration,*l,eo,1|lastScaleTime,*t,eo,2|currentReplicas,i,,3|desiredReplicas,i,,4|currentCPUUtilizationPercentage,*i,eo,5
v2.HorizontalPodAutoscalerSpec	scaleTargetRef,#323,,1|minReplicas,*i,eo,2|maxReplicas,i,,3|metrics,[#324,eo,4,latomic|behavior,*#325,eo,5
v2.HorizontalPodAutoscalerStatus	observedGeneration,*l,eo,1|lastScaleTime,*t,eo,2|currentReplicas,i,eo,3|desiredReplicas,i,,4|currentMetrics,[#326,o,5,latomic|conditions,[#327,eo,6,pmerge,ktype,lmap,Ktype
v1.CronJobSpec	schedule,s,,1|timeZone,*s,eo,8|startingDeadlineSeconds,*l,eo,2|concurrencyPolicy,#328,eo,3|suspend,*b,eo,4|jobTemplate,#329,,5|successfulJobsHistoryLimit,*i,eo,6|failedJobsHistoryLimit,*i,eo,7
v1.CronJobStatus	active,[#89,eo,1,latomic|lastScheduleTime,*t,eo,4|lastSuccessfulTime,*t,eo,5
v1.JobSpec	parallelism,*i,eo,1|completions,*i,eo,2|activeDeadlineSeconds,*l,eo,3|podFailurePolicy,*#330,eo,11|successPolicy,*#331,eo,16|backoffLimit,*i,eo,7|backoffLimitPerIndex,*i,eo,12|maxFailedIndexes,*i,eo,13|selector,*#159,eo,4|manualSelector,*b,eo,5|template,#105,,6|ttlSecondsAfterFinished,*i,eo,8|completionMode,*#332,eo,9|suspend,*b,eo,10|podReplacementPolicy,*#333,eo,14|managedBy,*s,eo,15|scheduling,*#334,eo,17
v1.JobStatus	conditions,[#335,eo,1,pmerge,ktype,latomic|startTime,*t,eo,2|completionTime,*t,eo,3|active,i,eo,4|succeeded,i,eo,5|failed,i,eo,6|terminating,*i,eo,11|completedIndexes,s,eo,7|failedIndexes,*s,eo,10|uncountedTerminatedPods,*#336,eo,8|ready,*i,eo,9
v1.CertificateSigningRequestSpec	request,y,,1|signerName,s,,7|expirationSeconds,*i,eo,8|usages,[#337,eo,5,latomic|username,s,eo,2|uid,s,eo,3|groups,[s,eo,4,latomic|extra,{#338,eo,6
v1.CertificateSigningRequestStatus	conditions,[#339,eo,1,lmap,Ktype|certificate,y,eo,2
v1.IPAddressSpec	parentRef,*#340,eo,1
v1.IngressSpec	ingressClassName,*s,eo,4|defaultBackend,*#341,eo,1|tls,[#342,eo,2,latomic|rules,[#343,eo,3,latomic
v1.IngressStatus	loadBalancer,#344,eo,1
v1.IngressClassSpec	controller,s,eo,1|parameters,*#345,eo,2
v1.NetworkPolicySpec	podSelector,#159,o,1|ingress,[#346,eo,2,latomic|egress,[#347,eo,3,latomic|policyTypes,[#348,eo,4,latomic
v1.ServiceCIDRSpec	cidrs,[s,eo,1,latomic
v1.ServiceCIDRStatus	conditions,[#303,eo,1,pmerge,ktype,lmap,Ktype
v1.PodDisruptionBudgetSpec	minAvailable,*I,eo,1|selector,*#159,eo,2,preplace|maxUnavailable,*I,eo,3|unhealthyPodEvictionPolicy,*#349,eo,4
v1.PodDisruptionBudgetStatus	observedGeneration,l,eo,1|disruptedPods,{t,eo,2|disruptionsAllowed,i,o,3|currentHealthy,i,o,4|desiredHealthy,i,o,5|expectedPods,i,o,6|conditions,[#303,eo,7,pmerge,ktype,lmap,Ktype
v1.PolicyRule	verbs,[s,,1,latomic|apiGroups,[s,eo,2,latomic|resources,[s,eo,3,latomic|resourceNames,[s,eo,4,latomic|nonResourceURLs,[s,eo,5,latomic
v1.AggregationRule	clusterRoleSelectors,[#159,eo,1,latomic
v1.Subject	kind,s,,1|apiGroup,s,eo,2|name,s,,3|namespace,s,eo,4
v1.RoleRef	apiGroup,s,o,1|kind,s,,2|name,s,,3
v1.CSIDriverSpec	attachRequired,*b,eo,1|podInfoOnMount,*b,eo,2|volumeLifecycleModes,[#350,eo,3,lset|storageCapacity,*b,eo,4|fsGroupPolicy,*#351,eo,5|tokenRequests,[#352,eo,6,latomic|requiresRepublish,*b,eo,7|seLinuxMount,*b,eo,8|nodeAllocatableUpdatePeriodSeconds,*l,eo,9|serviceAccountTokenInSecrets,*b,eo,10|preventPodSchedulingIfMissing,*b,eo,11
v1.CSINodeSpec	drivers,[#353,,1,pmerge,kname,lmap,Kname
v1.CSINodeStatus	storageHealth,[#354,eo,1,pmerge,kname,lmap,Kname
v1.LabelSelector	matchLabels,{s,eo,1|matchExpressions,[#355,eo,2,latomic
v1.PersistentVolumeReclaimPolicy	=s
v1.VolumeBindingMode	=s
v1.TopologySelectorTerm	matchLabelExpressions,[#356,eo,1,latomic
v1.VolumeAttachmentSpec	attacher,s,,1|source,#357,,2|nodeName,s,,3
v1.VolumeAttachmentStatus	attached,b,,1|attachmentMetadata,{s,eo,2|attachError,*#358,eo,3|detachError,*#358,eo,4
v1.MutatingAdmissionPolicySpec	paramKind,*#359,eo,1|matchConstraints,*#360,eo,2|variables,[#361,eo,3,latomic|mutations,[#362,eo,4,latomic|failurePolicy,*#363,eo,5|matchConditions,[#364,eo,6,pmerge,kname,lmap,Kname|reinvocationPolicy,#365,eo,7
v1.MutatingAdmissionPolicyBindingSpec	policyName,s,eo,1|paramRef,*#366,eo,2|matchResources,*#360,eo,3
v1.MutatingWebhook	name,s,,1|clientConfig,#367,,2|rules,[#368,eo,3,latomic|failurePolicy,*#363,eo,4|matchPolicy,*#369,eo,9|namespaceSelector,*#159,eo,5|objectSelector,*#159,eo,11|sideEffects,*#370,,6|timeoutSeconds,*i,eo,7|admissionReviewVersions,[s,,8,latomic|reinvocationPolicy,*#365,eo,10|matchConditions,[#364,eo,12,pmerge,kname,lmap,Kname
v1.ValidatingAdmissionPolicySpec	paramKind,*#359,eo,1|matchConstraints,*#360,eo,2|validations,[#371,eo,3,latomic|failurePolicy,*#363,eo,4|auditAnnotations,[#372,eo,5,latomic|matchConditions,[#364,eo,6,pmerge,kname,lmap,Kname|variables,[#361,eo,7,pmerge,kname,lmap,Kname
v1.ValidatingAdmissionPolicyStatus	observedGeneration,l,eo,1|typeChecking,*#373,eo,2|conditions,[#303,eo,3,lmap,Ktype
v1.ValidatingAdmissionPolicyBindingSpec	policyName,s,eo,1|paramRef,*#366,eo,2|matchResources,*#360,eo,3|validationActions,[#374,eo,4,lset
v1.ValidatingWebhook	name,s,,1|clientConfig,#367,,2|rules,[#368,eo,3,latomic|failurePolicy,*#363,eo,4|matchPolicy,*#369,eo,9|namespaceSelector,*#159,eo,5|objectSelector,*#159,eo,10|sideEffects,*#370,,6|timeoutSeconds,*i,eo,7|admissionReviewVersions,[s,,8,latomic|matchConditions,[#364,eo,11,pmerge,kname,lmap,Kname
v1.CustomResourceDefinitionSpec	group,s,,1|names,#375,,3|scope,#376,,4|versions,[#377,,7,latomic|conversion,*#378,eo,9|preserveUnknownFields,b,eo,10
v1.CustomResourceDefinitionStatus	conditions,[#379,o,1,lmap,Ktype|acceptedNames,#375,o,2|storedVersions,[s,o,3,latomic|observedGeneration,l,eo,4
v1.PreemptionPolicy	=s
v1.LeaseSpec	holderIdentity,*s,eo,1|leaseDurationSeconds,*i,eo,2|acquireTime,*u,eo,3|renewTime,*u,eo,4|leaseTransitions,*i,eo,5|strategy,*#380,eo,6|preferredHolder,*s,eo,7
v1.Overhead	podFixed,#216,eo,1
v1.Scheduling	nodeSelector,{s,eo,1,matomic|tolerations,[#269,eo,2,latomic
v1.AddressType	=s
v1.Endpoint	addresses,[s,,1,lset|conditions,#381,eo,2|hostname,*s,eo,3|targetRef,*#89,eo,4|deprecatedTopology,{s,eo,5|nodeName,*s,eo,6|zone,*s,eo,7|hints,*#382,eo,8
v1.EndpointPort	name,*s,eo,1|protocol,*#383,eo,2|port,*i,eo,3|appProtocol,*s,eo,4
v1.DeviceClassSpec	selectors,[#384,eo,1,latomic|config,[#385,eo,2,latomic|extendedResourceName,*s,eo,4
v1.ResourceClaimSpec	devices,#386,o,1
v1.ResourceClaimStatus	allocation,*#387,eo,1|reservedFor,[#388,eo,2,pmerge,kuid,lmap,Kuid|devices,[#389,eo,4,lmap,Kdriver+device+pool+shareID
v1.ResourceClaimTemplateSpec	metadata,#0,eo,1|spec,#182,o,2
v1.ResourceSliceSpec	driver,s,,1|pool,#390,,2|nodeName,*s,eo,3|nodeSelector,*#391,eo,4|allNodes,*b,eo,5|devices,[#392,eo,6,latomic|perDeviceNodeSelection,*b,eo,7|sharedCounters,[#393,eo,8,latomic|partitionTypeAttribute,*#394,eo,9|skipNodeOperations,[#395,eo,10,lset
v1.FlowSchemaSpec	priorityLevelConfiguration,#396,,1|matchingPrecedence,i,o,2|distinguisherMethod,*#397,eo,3|rules,[#398,eo,4,latomic
v1.FlowSchemaStatus	conditions,[#399,eo,1,pmerge,ktype,lmap,Ktype
v1.PriorityLevelConfigurationSpec	type,#400,,1|limited,*#401,eo,2|exempt,*#402,eo,3
v1.PriorityLevelConfigurationStatus	conditions,[#403,eo,1,pmerge,ktype,lmap,Ktype
v1.ScaleSpec	replicas,i,eo,1,d0
v1.ScaleStatus	replicas,i,,1|selector,s,eo,2
v1.TokenRequestSpec	audiences,[s,o,1,latomic|expirationSeconds,*l,o,4|boundObjectRef,*#404,o,3|attestations,{#405,eo,5
v1.TokenRequestStatus	token,s,o,1|expirationTimestamp,t,o,2
v2.APIGroupDiscovery	kind,s,eo,|apiVersion,s,eo,|metadata,#0,eo,1|versions,[#406,eo,2,lmap,Kversion
v1.Preconditions	uid,*#86,eo,1|resourceVersion,*s,eo,2
v1.DeletionPropagation	=s
v1.ResourceVersionMatch	=s
v1.StatusReason	=s
v1.StatusDetails	name,s,eo,1|group,s,eo,2|kind,s,eo,3|uid,#86,eo,6|causes,[#407,eo,4,latomic|retryAfterSeconds,i,eo,5
v1.ShardInfo	selector,s,,1
v1.ServerAddressByClientCIDR	clientCIDR,s,,1|serverAddress,s,,2
v1.GroupVersionForDiscovery	groupVersion,s,,1|version,s,,2
v1.APIResource	name,s,,1|singularName,s,,6|namespaced,b,,2|group,s,eo,8|version,s,eo,9|kind,s,,3|verbs,#408,,4|shortNames,[s,eo,5,latomic|categories,[s,eo,7,latomic|storageVersionHash,s,eo,10
v1.ManagedFieldsOperationType	=s
v1.ComponentConditionType	=s
v1.ConditionStatus	=s
v1.EndpointAddress	ip,s,,1|hostname,s,eo,3|nodeName,*s,eo,4|targetRef,*#89,eo,2
v1.EndpointPort	name,s,eo,1|port,i,,2|protocol,#383,eo,3|appProtocol,*s,eo,4
v1.LimitRangeItem	type,#409,,1|max,#216,eo,2|min,#216,eo,3|default,#216,eo,4|defaultRequest,#216,eo,5|maxLimitRequestRatio,#216,eo,6
v1.FinalizerName	=s
v1.NamespacePhase	=s
v1.NamespaceCondition	type,#410,,1|status,#206,,2|lastTransitionTime,t,eo,4|reason,s,eo,5|message,s,eo,6
v1.Taint	key,s,,1|value,s,eo,2|effect,#411,,3|timeAdded,*t,eo,4
v1.NodeConfigSource	configMap,*#412,eo,2
v1.NodePodPreemptionPolicy	disableResizePreemption,[s,eo,1,lset
v1.ResourceList	={q
v1.NodePhase	=s
v1.NodeCondition	type,#413,,1|status,#206,,2|lastHeartbeatTime,t,eo,3|lastTransitionTime,t,eo,4|reason,s,eo,5|message,s,eo,6
v1.NodeAddress	type,#414,,1|address,s,,2
v1.NodeDaemonEndpoints	kubeletEndpoint,#415,eo,1
v1.NodeSystemInfo	machineID,s,,1|systemUUID,s,,2|bootID,s,,3|kernelVersion,s,,4|osImage,s,,5|containerRuntimeVersion,s,,6|kubeletVersion,s,,7|kubeProxyVersion,s,,8|operatingSystem,s,,9|architecture,s,,10|swap,*#416,eo,11|runningInUserNamespace,*b,eo,12
v1.ContainerImage	names,[s,o,1,latomic|sizeBytes,l,eo,2
v1.UniqueVolumeName	=s
v1.AttachedVolume	name,#223,,1|devicePath,s,,2
v1.NodeConfigStatus	assigned,*#214,eo,1|active,*#214,eo,2|lastKnownGood,*#214,eo,3|error,s,eo,4
v1.NodeRuntimeHandler	name,s,o,1|features,*#417,eo,2
v1.NodeFeatures	supplementalGroupsPolicy,*b,eo,1
v1.GCEPersistentDiskVolumeSource	pdName,s,,1|fsType,s,eo,2|partition,i,eo,3|readOnly,b,eo,4
v1.AWSElasticBlockStoreVolumeSource	volumeID,s,,1|fsType,s,eo,2|partition,i,eo,3|readOnly,b,eo,4
v1.HostPathVolumeSource	path,s,,1|type,*#418,eo,2
v1.GlusterfsPersistentVolumeSource	endpoints,s,,1|path,s,,2|readOnly,b,eo,3|endpointsNamespace,*s,eo,4
v1.NFSVolumeSource	server,s,,1|path,s,,2|readOnly,b,eo,3
v1.RBDPersistentVolumeSource	monitors,[s,,1,latomic|image,s,,2|fsType,s,eo,3|pool,s,eo,4,d"rbd"|user,s,eo,5,d"admin"|keyring,s,eo,6,d"/etc/ceph/keyring"|secretRef,*#419,eo,7|readOnly,b,eo,8
v1.ISCSIPersistentVolumeSource	targetPortal,s,,1|iqn,s,,2|lun,i,,3|iscsiInterface,s,eo,4,d"default"|fsType,s,eo,5|readOnly,b,eo,6|portals,[s,eo,7,latomic|chapAuthDiscovery,b,eo,8|chapAuthSession,b,eo,11|secretRef,*#419,eo,10|initiatorName,*s,eo,12
v1.CinderPersistentVolumeSource	volumeID,s,,1|fsType,s,eo,2|readOnly,b,eo,3|secretRef,*#419,eo,4
v1.CephFSPersistentVolumeSource	monitors,[s,,1,latomic|path,s,eo,2|user,s,eo,3|secretFile,s,eo,4|secretRef,*#419,eo,5|readOnly,b,eo,6
v1.FCVolumeSource	targetWWNs,[s,eo,1,latomic|lun,*i,eo,2|fsType,s,eo,3|readOnly,b,eo,4|wwids,[s,eo,5,latomic
v1.FlockerVolumeSource	datasetName,s,eo,1|datasetUUID,s,eo,2
v1.FlexPersistentVolumeSource	driver,s,,1|fsType,s,eo,2|secretRef,*#419,eo,3|readOnly,b,eo,4|options,{s,eo,5
v1.AzureFilePersistentVolumeSource	secretName,s,,1|shareName,s,,2|readOnly,b,eo,3|secretNamespace,*s,o,4
v1.VsphereVirtualDiskVolumeSource	volumePath,s,,1|fsType,s,eo,2|storagePolicyName,s,eo,3|storagePolicyID,s,eo,4
v1.QuobyteVolumeSource	registry,s,,1|volume,s,,2|readOnly,b,eo,3|user,s,eo,4|group,s,eo,5|tenant,s,eo,6
v1.AzureDiskVolumeSource	diskName,s,,1|diskURI,s,,2|cachingMode,*#420,eo,3|fsType,*s,eo,4,d"ext4"|readOnly,*b,eo,5,dfalse|kind,*#421,eo,6
v1.PhotonPersistentDiskVolumeSource	pdID,s,,1|fsType,s,eo,2
v1.PortworxVolumeSource	volumeID,s,,1|fsType,s,eo,2|readOnly,b,eo,3
v1.ScaleIOPersistentVolumeSource	gateway,s,,1|system,s,,2|secretRef,*#419,,3|sslEnabled,b,eo,4|protectionDomain,s,eo,5|storagePool,s,eo,6|storageMode,s,eo,7,d"ThinProvisioned"|volumeName,s,eo,8|fsType,s,eo,9,d"xfs"|readOnly,b,eo,10
v1.LocalVolumeSource	path,s,,1|fsType,*s,eo,2
v1.StorageOSPersistentVolumeSource	volumeName,s,eo,1|volumeNamespace,s,eo,2|fsType,s,eo,3|readOnly,b,eo,4|secretRef,*#89,eo,5
v1.CSIPersistentVolumeSource	driver,s,,1|volumeHandle,s,,2|readOnly,b,eo,3|fsType,s,eo,4|volumeAttributes,{s,eo,5|controllerPublishSecretRef,*#419,eo,6|nodeStageSecretRef,*#419,eo,7|nodePublishSecretRef,*#419,eo,8|controllerExpandSecretRef,*#419,eo,9|nodeExpandSecretRef,*#419,eo,10
v1.PersistentVolumeAccessMode	=s
v1.PersistentVolumeMode	=s
v1.VolumeNodeAffinity	required,*#391,eo,1
v1.PersistentVolumePhase	=s
v1.VolumeResourceRequirements	limits,#216,eo,1|requests,#216,eo,2
v1.TypedLocalObjectReference	apiGroup,*s,o,1|kind,s,,2|name,s,,3
v1.TypedObjectReference	apiGroup,*s,o,1|kind,s,,2|name,s,,3|namespace,*s,eo,4
v1.PersistentVolumeClaimPhase	=s
v1.PersistentVolumeClaimCondition	type,#422,,1|status,#206,,2|lastProbeTime,t,eo,3|lastTransitionTime,t,eo,4|reason,s,eo,5|message,s,eo,6
v1.ClaimResourceStatus	=s
v1.ModifyVolumeStatus	targetVolumeAttributesClassName,s,eo,1|status,#423,,2
v1.VolumeHealthStatus	healthConditions,[#424,eo,1,pmerge,kstatus,lmap,Kstatus+reason|lastTransitionTime,t,eo,2
v1.Volume	name,s,,1|hostPath,*#230,eo,2.1|emptyDir,*#425,eo,2.2|gcePersistentDisk,*#228,eo,2.3|awsElasticBlockStore,*#229,eo,2.4|gitRepo,*#426,eo,2.5|secret,*#427,eo,2.6|nfs,*#232,eo,2.7|iscsi,*#428,eo,2.8|glusterfs,*#429,eo,2.9|persistentVolumeClaim,*#430,eo,2.10|rbd,*#431,eo,2.11|flexVolume,*#432,eo,2.12|cinder,*#433,eo,2.13|cephfs,*#434,eo,2.14|flocker,*#238,eo,2.15|downwardAPI,*#435,eo,2.16|fc,*#237,eo,2.17|azureFile,*#436,eo,2.18|configMap,*#437,eo,2.19|vsphereVolume,*#241,eo,2.20|quobyte,*#242,eo,2.21|azureDisk,*#243,eo,2.22|photonPersistentDisk,*#244,eo,2.23|projected,*#438,eo,2.26|portworxVolume,*#245,eo,2.24|scaleIO,*#439,eo,2.25|storageos,*#440,eo,2.27|csi,*#441,eo,2.28|ephemeral,*#442,eo,2.29|image,*#443,eo,2.30
v1.Container	name,s,,1|image,s,eo,2|command,[s,eo,3,latomic|args,[s,eo,4,latomic|workingDir,s,eo,5|ports,[#444,eo,6,pmerge,kcontainerPort,lmap,KcontainerPort+protocol|envFrom,[#445,eo,19,latomic|env,[#446,eo,7,pmerge,kname,lmap,Kname|resources,#277,eo,8|resizePolicy,[#447,eo,23,latomic|restartPolicy,*#448,eo,24|restartPolicyRules,[#449,eo,25,latomic|volumeMounts,[#450,eo,9,pmerge,kmountPath,lmap,KmountPath|volumeDevices,[#451,eo,21,pmerge,kdevicePath,lmap,KdevicePath|livenessProbe,*#452,eo,10|readinessProbe,*#452,eo,11|startupProbe,*#452,eo,22|lifecycle,*#453,eo,12|terminationMessagePath,s,eo,13|terminationMessagePolicy,#454,eo,20|imagePullPolicy,#455,eo,14|securityContext,*#456,eo,15|stdin,b,eo,16|stdinOnce,b,eo,17|tty,b,eo,18
v1.EphemeralContainer	name,s,,1.1|image,s,eo,1.2|command,[s,eo,1.3,latomic|args,[s,eo,1.4,latomic|workingDir,s,eo,1.5|ports,[#444,eo,1.6,pmerge,kcontainerPort,lmap,KcontainerPort+protocol|envFrom,[#445,eo,1.19,latomic|env,[#446,eo,1.7,pmerge,kname,lmap,Kname|resources,#277,eo,1.8|resizePolicy,[#447,eo,1.23,latomic|restartPolicy,*#448,eo,1.24|restartPolicyRules,[#449,eo,1.25,latomic|volumeMounts,[#450,eo,1.9,pmerge,kmountPath,lmap,KmountPath|volumeDevices,[#451,eo,1.21,pmerge,kdevicePath,lmap,KdevicePath|livenessProbe,*#452,eo,1.10|readinessProbe,*#452,eo,1.11|startupProbe,*#452,eo,1.22|lifecycle,*#453,eo,1.12|terminationMessagePath,s,eo,1.13|terminationMessagePolicy,#454,eo,1.20|imagePullPolicy,#455,eo,1.14|securityContext,*#456,eo,1.15|stdin,b,eo,1.16|stdinOnce,b,eo,1.17|tty,b,eo,1.18|targetContainerName,s,eo,2
v1.RestartPolicy	=s
v1.DNSPolicy	=s
v1.PodSecurityContext	seLinuxOptions,*#457,eo,1|windowsOptions,*#458,eo,8|runAsUser,*l,eo,2|runAsGroup,*l,eo,6|runAsNonRoot,*b,eo,3|supplementalGroups,[l,eo,4,latomic|supplementalGroupsPolicy,*#459,eo,12|fsGroup,*l,eo,5|sysctls,[#460,eo,7,latomic|fsGroupChangePolicy,*#461,eo,9|seccompProfile,*#462,eo,10|appArmorProfile,*#463,eo,11|seLinuxChangePolicy,*#464,eo,13
v1.Affinity	nodeAffinity,*#465,eo,1|podAffinity,*#466,eo,2|podAntiAffinity,*#467,eo,3
v1.Toleration	key,s,eo,1|operator,#468,eo,2|value,s,eo,3|effect,#411,eo,4|tolerationSeconds,*l,eo,5
v1.HostAlias	ip,s,,1|hostnames,[s,eo,2,latomic
v1.PodDNSConfig	nameservers,[s,eo,1,latomic|searches,[s,eo,2,latomic|options,[#469,eo,3,latomic
v1.PodReadinessGate	conditionType,#470,,1
v1.TopologySpreadConstraint	maxSkew,i,,1|topologyKey,s,,2|whenUnsatisfiable,#471,,3|labelSelector,*#159,eo,4|minDomains,*i,eo,5|nodeAffinityPolicy,*#472,eo,6|nodeTaintsPolicy,*#472,eo,7|matchLabelKeys,[s,eo,8,latomic
v1.PodOS	name,#473,,1
v1.PodSchedulingGate	name,s,,1
v1.PodResourceClaim	name,s,,1|resourceClaimName,*s,eo,3|resourceClaimTemplateName,*s,eo,4
v1.ResourceRequirements	limits,#216,eo,1|requests,#216,eo,2|claims,[#474,eo,3,lmap,Kname
v1.PodSchedulingGroup	podGroupName,*s,eo,1
v1.EvictionResponder	name,s,,1|priority,*i,,2
v1.PodPhase	=s
v1.PodCondition	type,#470,,1|observedGeneration,l,eo,7|status,#206,,2|lastProbeTime,t,eo,3|lastTransitionTime,t,eo,4|reason,s,eo,5|message,s,eo,6
v1.HostIP	ip,s,,1
v1.PodIP	ip,s,,1
v1.ContainerStatus	name,s,,1|state,#475,eo,2|lastState,#475,eo,3|ready,b,,4|restartCount,i,,5|image,s,,6|imageID,s,,7|containerID,s,eo,8|started,*b,eo,9|allocatedResources,#216,eo,10|resources,*#277,eo,11|volumeMounts,[#476,eo,12,pmerge,kmountPath,lmap,KmountPath|user,*#477,eo,13|allocatedResourcesStatus,[#478,eo,14,pmerge,kname,lmap,Kname|stopSignal,*#479,eo,15
v1.PodQOSClass	=s
v1.PodResizeStatus	=s
v1.PodResourceClaimStatus	name,s,,1|resourceClaimName,*s,eo,2
v1.PodExtendedResourceClaimStatus	requestMappings,[#480,,1,latomic|resourceClaimName,s,,2
v1.NodeAllocatableResourceClaimStatus	resourceClaimName,s,,1|containers,[s,eo,2,lset|mapping,[#481,eo,4,pmerge,kname,lmap,Kname|overhead,[#482,eo,5,pmerge,kname,lmap,Kname
v1.PodVolumeHealth	name,s,,1|healthConditions,[#424,eo,2,pmerge,kstatus,lmap,Kstatus+reason|lastTransitionTime,t,eo,3
v1.ReplicationControllerCondition	type,#483,,1|status,#206,,2|lastTransitionTime,t,eo,3|reason,s,eo,4|message,s,eo,5
v1.ResourceQuotaScope	=s
v1.ScopeSelector	matchExpressions,[#484,eo,1,latomic
v1.ServicePort	name,s,eo,1|protocol,#383,eo,2,d"TCP"|appProtocol,*s,eo,6|port,i,,3|targetPort,I,eo,4|nodePort,i,eo,5
v1.ServiceType	=s
v1.ServiceAffinity	=s
v1.ServiceExternalTrafficPolicy	=s
v1.SessionAffinityConfig	clientIP,*#485,eo,1
v1.IPFamily	=s
v1.IPFamilyPolicy	=s
v1.ServiceInternalTrafficPolicy	=s
v1.LoadBalancerStatus	ingress,[#486,eo,1,latomic
v1.Condition	type,s,,1|status,#487,,2|observedGeneration,l,eo,3|lastTransitionTime,t,,4|reason,s,,5|message,s,,6
v1.ServiceReference	namespace,s,eo,1|name,s,eo,2|port,*i,eo,3
v1.APIServiceCondition	type,#488,,1|status,#489,,2|lastTransitionTime,t,eo,3|reason,s,eo,4|message,s,eo,5
v1.DaemonSetUpdateStrategy	type,#490,eo,1|rollingUpdate,*#491,eo,2
v1.DaemonSetCondition	type,#492,o,1|status,#206,o,2|lastTransitionTime,t,eo,3|reason,s,eo,4|message,s,eo,5
v1.DeploymentStrategy	type,#493,eo,1|rollingUpdate,*#494,eo,2
v1.DeploymentCondition	type,#495,o,1|status,#206,o,2|lastUpdateTime,t,eo,6|lastTransitionTime,t,eo,7|reason,s,eo,4|message,s,eo,5
v1.ReplicaSetCondition	type,#496,o,1|status,#206,o,2|lastTransitionTime,t,eo,3|reason,s,eo,4|message,s,eo,5
v1.PodManagementPolicyType	=s
v1.StatefulSetUpdateStrategy	type,#497,eo,1|rollingUpdate,*#498,eo,2
v1.StatefulSetPersistentVolumeClaimRetentionPolicy	whenDeleted,#499,eo,1|whenScaled,#499,eo,2
v1.StatefulSetOrdinals	start,i,o,1
v1.StatefulSetCondition	type,#500,o,1|status,#206,o,2|lastTransitionTime,t,eo,3|reason,s,eo,4|message,s,eo,5
v1.UserInfo	username,s,eo,1|uid,s,eo,2|groups,[s,eo,3,latomic|extra,{#501,eo,4
v1.ResourceAttributes	namespace,s,eo,1|verb,s,eo,2|group,s,eo,3|version,s,eo,4|resource,s,eo,5|subresource,s,eo,6|name,s,eo,7|fieldSelector,*#502,eo,8|labelSelector,*#503,eo,9
v1.NonResourceAttributes	path,s,eo,1|verb,s,eo,2
v1.ExtraValue	=&[s
v1.ResourceRule	verbs,[s,,1,latomic|apiGroups,[s,eo,2,latomic|resources,[s,eo,3,latomic|resourceNames,[s,eo,4,latomic
v1.NonResourceRule	verbs,[s,,1,latomic|nonResourceURLs,[s,eo,2,latomic
v1.CrossVersionObjectReference	kind,s,,1|name,s,,2|apiVersion,s,eo,3
v2.CrossVersionObjectReference	kind,s,,1|name,s,,2|apiVersion,s,eo,3
v2.MetricSpec	type,#504,,1|object,*#505,eo,2|pods,*#506,eo,3|resource,*#507,eo,4|containerResource,*#508,eo,7|external,*#509,eo,5
v2.HorizontalPodAutoscalerBehavior	scaleUp,*#510,eo,1|scaleDown,*#510,eo,2
v2.MetricStatus	type,#504,,1|object,*#511,eo,2|pods,*#512,eo,3|resource,*#513,eo,4|containerResource,*#514,eo,7|external,*#515,eo,5
v2.HorizontalPodAutoscalerCondition	type,#516,,1|status,#206,,2|lastTransitionTime,t,eo,3|reason,s,eo,4|message,s,eo,5|observedGeneration,*l,eo,6
v1.ConcurrencyPolicy	=s
v1.JobTemplateSpec	metadata,#0,eo,1|spec,#139,eo,2
v1.PodFailurePolicy	rules,[#517,,1,latomic
v1.SuccessPolicy	rules,[#518,,1,latomic
v1.CompletionMode	=s
v1.PodReplacementPolicy	=s
v1.JobSchedulingConfiguration	schedulingPolicy,*#519,eo,1|schedulingConstraints,*#520,eo,2|disruptionMode,*#521,eo,3|resourceClaims,[#522,eo,4,pmerge,kname,lmap,Kname
v1.JobCondition	type,#523,,1|status,#206,,2|lastProbeTime,t,eo,3|lastTransitionTime,t,eo,4|reason,s,eo,5|message,s,eo,6
v1.UncountedTerminatedPods	succeeded,[#86,eo,1,lset|failed,[#86,eo,2,lset
v1.KeyUsage	=s
v1.ExtraValue	=&[s
v1.CertificateSigningRequestCondition	type,#524,,1|status,#206,,6|reason,s,eo,2|message,s,eo,3|lastUpdateTime,t,eo,4|lastTransitionTime,t,eo,5
v1.ParentReference	group,s,eo,1|resource,s,eo,2|namespace,s,eo,3|name,s,eo,4
v1.IngressBackend	service,*#525,eo,4|resource,*#255,eo,3
v1.IngressTLS	hosts,[s,eo,1,latomic|secretName,s,eo,2
v1.IngressRule	host,s,eo,1|http,*#526,eo,2.1
v1.IngressLoadBalancerStatus	ingress,[#527,eo,1,latomic
v1.IngressClassParametersReference	apiGroup,*s,eo,1|kind,s,,2|name,s,,3|scope,*s,o,4|namespace,*s,eo,5
v1.NetworkPolicyIngressRule	ports,[#528,eo,1,latomic|from,[#529,eo,2,latomic
v1.NetworkPolicyEgressRule	ports,[#528,eo,1,latomic|to,[#529,eo,2,latomic
v1.PolicyType	=s
v1.UnhealthyPodEvictionPolicyType	=s
v1.VolumeLifecycleMode	=s
v1.FSGroupPolicy	=s
v1.TokenRequest	audience,s,,1|expirationSeconds,*l,eo,2
v1.CSINodeDriver	name,s,,1|nodeID,s,,2|topologyKeys,[s,o,3,latomic|allocatable,*#530,eo,4
v1.StorageHealth	name,s,,1|healthConditions,[#531,eo,2,latomic
v1.LabelSelectorRequirement	key,s,,1|operator,#532,,2|values,[s,eo,3,latomic
v1.TopologySelectorLabelRequirement	key,s,,1|values,[s,,2,latomic
v1.VolumeAttachmentSource	persistentVolumeName,*s,eo,1|inlineVolumeSpec,*#99,eo,2
v1.VolumeError	time,t,eo,1|message,s,eo,2|errorCode,*i,eo,3
v1.ParamKind	apiVersion,s,eo,1|kind,s,eo,2
v1.MatchResources	namespaceSelector,*#159,eo,1|objectSelector,*#159,eo,2|resourceRules,[#533,eo,3,latomic|excludeResourceRules,[#533,eo,4,latomic|matchPolicy,*#369,eo,7
v1.Variable	name,s,,1|expression,s,,2
v1.Mutation	patchType,#534,,2|applyConfiguration,*#535,eo,3|jsonPatch,*#536,eo,4
v1.FailurePolicyType	=s
v1.MatchCondition	name,s,,1|expression,s,,2
v1.ReinvocationPolicyType	=s
v1.ParamRef	name,s,eo,1|namespace,s,eo,2|selector,*#159,eo,3|parameterNotFoundAction,*#537,eo,4
v1.WebhookClientConfig	url,*s,eo,3|service,*#538,eo,1|caBundle,y,eo,2
v1.RuleWithOperations	operations,[#539,eo,1,latomic|apiGroups,[s,eo,2.1,latomic|apiVersions,[s,eo,2.2,latomic|resources,[s,eo,2.3,latomic|scope,*#540,eo,2.4
v1.MatchPolicyType	=s
v1.SideEffectClass	=s
v1.Validation	expression,s,,1|message,s,eo,2|reason,*#198,eo,3|messageExpression,s,eo,4
v1.AuditAnnotation	key,s,,1|valueExpression,s,,2
v1.TypeChecking	expressionWarnings,[#541,eo,1,latomic
v1.ValidationAction	=s
v1.CustomResourceDefinitionNames	plural,s,,1|singular,s,eo,2|shortNames,[s,eo,3,latomic|kind,s,,4|listKind,s,eo,5|categories,[s,eo,6,latomic
v1.ResourceScope	=s
v1.CustomResourceDefinitionVersion	name,s,,1|served,b,,2|storage,b,,3|deprecated,b,eo,7|deprecationWarning,*s,eo,8|schema,*#542,eo,4|subresources,*#543,eo,5|additionalPrinterColumns,[#544,eo,6,latomic|selectableFields,[#545,eo,9,latomic
v1.CustomResourceConversion	strategy,#546,,1|webhook,*#547,eo,2
v1.CustomResourceDefinitionCondition	type,#548,,1|status,#549,,2|lastTransitionTime,t,eo,3|reason,s,eo,4|message,s,eo,5|observedGeneration,l,eo,6
v1.CoordinatedLeaseStrategy	=s
v1.EndpointConditions	ready,*b,eo,1|serving,*b,eo,2|terminating,*b,eo,3
v1.EndpointHints	forZones,[#550,eo,1,latomic|forNodes,[#551,eo,2,latomic
v1.Protocol	=s
v1.DeviceSelector	cel,*#552,eo,1
v1.DeviceClassConfiguration	opaque,*#553,eo,1.1
v1.DeviceClaim	requests,[#554,o,1,latomic|constraints,[#555,eo,2,latomic|config,[#556,eo,3,latomic
v1.AllocationResult	devices,#557,eo,1|nodeSelector,*#391,eo,3|allocationTimestamp,*t,eo,5
v1.ResourceClaimConsumerReference	apiGroup,s,eo,1|resource,s,,3|name,s,,4|uid,#86,,5
v1.AllocatedDeviceStatus	driver,s,,1|pool,s,,2|device,s,,3|shareID,*s,eo,7|conditions,[#303,o,4,lmap,Ktype|data,*R,eo,5|networkData,*#558,eo,6
v1.ResourcePool	name,s,,1|generation,l,,2|resourceSliceCount,l,,3
v1.NodeSelector	nodeSelectorTerms,[#559,,1,latomic
v1.Device	name,s,,1|attributes,{#560,eo,2|capacity,{#561,eo,3|consumesCounters,[#562,eo,4,latomic|nodeName,*s,eo,5|nodeSelector,*#391,eo,6|allNodes,*b,eo,7|taints,[#563,eo,8,latomic|bindsToNode,*b,eo,9|bindingConditions,[s,eo,10,latomic|bindingFailureConditions,[s,eo,11,latomic|allowMultipleAllocations,*b,eo,12|nodeAllocatableResources,{#564,eo,14
v1.CounterSet	name,s,,1|counters,{#565,eo,2
v1.FullyQualifiedName	=s
v1.SkipNodeOperation	=s
v1.PriorityLevelConfigurationReference	name,s,,1
v1.FlowDistinguisherMethod	type,#566,,1
v1.PolicyRulesWithSubjects	subjects,[#567,,1,latomic|resourceRules,[#568,eo,2,latomic|nonResourceRules,[#569,eo,3,latomic
v1.FlowSchemaCondition	type,#570,eo,1|status,#571,eo,2|lastTransitionTime,t,eo,3|reason,s,eo,4|message,s,eo,5
v1.PriorityLevelEnablement	=s
v1.LimitedPriorityLevelConfiguration	nominalConcurrencyShares,*i,o,1|limitResponse,#572,eo,2|lendablePercent,*i,eo,3|borrowingLimitPercent,*i,eo,4
v1.ExemptPriorityLevelConfiguration	nominalConcurrencyShares,*i,eo,1|lendablePercent,*i,eo,2
v1.PriorityLevelConfigurationCondition	type,#573,eo,1|status,#571,eo,2|lastTransitionTime,t,eo,3|reason,s,eo,4|message,s,eo,5
v1.BoundObjectReference	kind,s,eo,1|apiVersion,s,eo,2|name,s,eo,3|uid,#86,eo,4
v1.AttestationValue	=&[s
v2.APIVersionDiscovery	version,s,o,1|resources,[#574,eo,2,lmap,Kresource|freshness,#575,eo,3
v1.StatusCause	reason,#576,eo,1|message,s,eo,2|field,s,eo,3
v1.Verbs	=&[s
v1.LimitType	=s
v1.NamespaceConditionType	=s
v1.TaintEffect	=s
v1.ConfigMapNodeConfigSource	namespace,s,,1|name,s,,2|uid,#86,eo,3|resourceVersion,s,eo,4|kubeletConfigKey,s,,5
v1.NodeConditionType	=s
v1.NodeAddressType	=s
v1.DaemonEndpoint	Port,i,,1
v1.NodeSwapStatus	capacity,*l,eo,1
v1.NodeRuntimeHandlerFeatures	recursiveReadOnlyMounts,*b,eo,1|userNamespaces,*b,eo,2
v1.HostPathType	=s
v1.SecretReference	name,s,eo,1|namespace,s,eo,2
v1.AzureDataDiskCachingMode	=s
v1.AzureDataDiskKind	=s
v1.PersistentVolumeClaimConditionType	=s
v1.PersistentVolumeClaimModifyVolumeStatus	=s
v1.VolumeHealthCondition	status,#577,,1|reason,s,,2|message,s,eo,3
v1.EmptyDirVolumeSource	medium,#578,eo,1|sizeLimit,*q,eo,2|mode,*i,eo,3
v1.GitRepoVolumeSource	repository,s,,1|revision,s,eo,2|directory,s,eo,3
v1.SecretVolumeSource	secretName,s,eo,1|items,[#579,eo,2,latomic|defaultMode,*i,eo,3|optional,*b,eo,4|defaultUser,*l,eo,5
v1.ISCSIVolumeSource	targetPortal,s,,1|iqn,s,,2|lun,i,,3|iscsiInterface,s,eo,4,d"default"|fsType,s,eo,5|readOnly,b,eo,6|portals,[s,eo,7,latomic|chapAuthDiscovery,b,eo,8|chapAuthSession,b,eo,11|secretRef,*#113,eo,10|initiatorName,*s,eo,12
v1.GlusterfsVolumeSource	endpoints,s,,1|path,s,,2|readOnly,b,eo,3
v1.PersistentVolumeClaimVolumeSource	claimName,s,,1|readOnly,b,eo,2
v1.RBDVolumeSource	monitors,[s,,1,latomic|image,s,,2|fsType,s,eo,3|pool,s,eo,4,d"rbd"|user,s,eo,5,d"admin"|keyring,s,eo,6,d"/etc/ceph/keyring"|secretRef,*#113,eo,7|readOnly,b,eo,8
v1.FlexVolumeSource	driver,s,,1|fsType,s,eo,2|secretRef,*#113,eo,3|readOnly,b,eo,4|options,{s,eo,5
v1.CinderVolumeSource	volumeID,s,,1|fsType,s,eo,2|readOnly,b,eo,3|secretRef,*#113,eo,4
v1.CephFSVolumeSource	monitors,[s,,1,latomic|path,s,eo,2|user,s,eo,3|secretFile,s,eo,4|secretRef,*#113,eo,5|readOnly,b,eo,6
v1.DownwardAPIVolumeSource	items,[#580,eo,1,latomic|defaultMode,*i,eo,2|defaultUser,*l,eo,3
v1.AzureFileVolumeSource	secretName,s,,1|shareName,s,,2|readOnly,b,eo,3
v1.ConfigMapVolumeSource	name,s,eo,1.1,d""|items,[#579,eo,2,latomic|defaultMode,*i,eo,3|optional,*b,eo,4|defaultUser,*l,eo,5
v1.ProjectedVolumeSource	sources,[#581,o,1,latomic|defaultMode,*i,eo,2|defaultUser,*l,eo,3
v1.ScaleIOVolumeSource	gateway,s,,1|system,s,,2|secretRef,*#113,,3|sslEnabled,b,eo,4|protectionDomain,s,eo,5|storagePool,s,eo,6|storageMode,s,eo,7,d"ThinProvisioned"|volumeName,s,eo,8|fsType,s,eo,9,d"xfs"|readOnly,b,eo,10
v1.StorageOSVolumeSource	volumeName,s,eo,1|volumeNamespace,s,eo,2|fsType,s,eo,3|readOnly,b,eo,4|secretRef,*#113,eo,5
v1.CSIVolumeSource	driver,s,,1|readOnly,*b,eo,2|fsType,*s,eo,3|volumeAttributes,{s,eo,4|nodePublishSecretRef,*#113,eo,5
v1.EphemeralVolumeSource	volumeClaimTemplate,*#582,eo,1
v1.ImageVolumeSource	reference,s,eo,1|pullPolicy,#455,eo,2
v1.ContainerPort	name,s,eo,1|hostPort,i,eo,2|containerPort,i,,3|protocol,#383,eo,4,d"TCP"|hostIP,s,eo,5
v1.EnvFromSource	prefix,s,eo,1|configMapRef,*#583,eo,2|secretRef,*#584,eo,3
v1.EnvVar	name,s,,1|value,s,eo,2|valueFrom,*#585,eo,3
v1.ContainerResizePolicy	resourceName,#586,,1|restartPolicy,#587,,2
v1.ContainerRestartPolicy	=s
v1.ContainerRestartRule	action,#588,eo,1|exitCodes,*#589,eo,2
v1.VolumeMount	name,s,,1|readOnly,b,eo,2|recursiveReadOnly,*#590,eo,7|mountPath,s,,3|subPath,s,eo,4|mountPropagation,*#591,eo,5|subPathExpr,s,eo,6|bindMountOptions,[s,eo,8,lset
v1.VolumeDevice	name,s,,1|devicePath,s,,2
v1.Probe	exec,*#592,eo,1.1|httpGet,*#593,eo,1.2|tcpSocket,*#594,eo,1.3|grpc,*#595,eo,1.4|initialDelaySeconds,i,eo,2|timeoutSeconds,i,eo,3|periodSeconds,i,eo,4|successThreshold,i,eo,5|failureThreshold,i,eo,6|terminationGracePeriodSeconds,*l,eo,7
v1.Lifecycle	postStart,*#596,eo,1|preStop,*#596,eo,2|stopSignal,*#479,eo,3
v1.TerminationMessagePolicy	=s
v1.PullPolicy	=s
v1.SecurityContext	capabilities,*#597,eo,1|privileged,*b,eo,2|seLinuxOptions,*#457,eo,3|windowsOptions,*#458,eo,10|runAsUser,*l,eo,4|runAsGroup,*l,eo,8|runAsNonRoot,*b,eo,5|readOnlyRootFilesystem,*b,eo,6|allowPrivilegeEscalation,*b,eo,7|procMount,*#598,eo,9|seccompProfile,*#462,eo,11|appArmorProfile,*#463,eo,12
v1.SELinuxOptions	user,s,eo,1|role,s,eo,2|type,s,eo,3|level,s,eo,4
v1.WindowsSecurityContextOptions	gmsaCredentialSpecName,*s,eo,1|gmsaCredentialSpec,*s,eo,2|runAsUserName,*s,eo,3|hostProcess,*b,eo,4
v1.SupplementalGroupsPolicy	=s
v1.Sysctl	name,s,,1|value,s,,2
v1.PodFSGroupChangePolicy	=s
v1.SeccompProfile	type,#599,,1|localhostProfile,*s,eo,2
v1.AppArmorProfile	type,#600,,1|localhostProfile,*s,eo,2
v1.PodSELinuxChangePolicy	=s
v1.NodeAffinity	requiredDuringSchedulingIgnoredDuringExecution,*#391,eo,1|preferredDuringSchedulingIgnoredDuringExecution,[#601,eo,2,latomic
v1.PodAffinity	requiredDuringSchedulingIgnoredDuringExecution,[#602,eo,1,latomic|preferredDuringSchedulingIgnoredDuringExecution,[#603,eo,2,latomic
v1.PodAntiAffinity	requiredDuringSchedulingIgnoredDuringExecution,[#602,eo,1,latomic|preferredDuringSchedulingIgnoredDuringExecution,[#603,eo,2,latomic
v1.TolerationOperator	=s
v1.PodDNSConfigOption	name,s,eo,1|value,*s,eo,2
v1.PodConditionType	=s
v1.UnsatisfiableConstraintAction	=s
v1.NodeInclusionPolicy	=s
v1.OSName	=s
v1.ResourceClaim	name,s,,1|request,s,eo,2
v1.ContainerState	waiting,*#604,eo,1|running,*#605,eo,2|terminated,*#606,eo,3
v1.VolumeMountStatus	name,s,,1|mountPath,s,,2|readOnly,b,eo,3|recursiveReadOnly,*#590,eo,4|volumeStatus,*#607,eo,5
v1.ContainerUser	linux,*#608,eo,1
v1.ResourceStatus	name,#586,,1|resources,[#609,eo,2,lmap,KresourceID
v1.Signal	=s
v1.ContainerExtendedResourceRequest	containerName,s,,1|resourceName,s,,2|requestName,s,,3
v1.NodeAllocatableMappedResources	name,#586,,1|quantity,*q,,2
v1.NodeAllocatableOverheadResources	name,#586,,1|perPod,*q,eo,2|perContainer,*q,eo,3
v1.ReplicationControllerConditionType	=s
v1.ScopedResourceSelectorRequirement	scopeName,#292,,1|operator,#610,,2|values,[s,eo,3,latomic
v1.ClientIPConfig	timeoutSeconds,*i,eo,1
v1.LoadBalancerIngress	ip,s,eo,1|hostname,s,eo,2|ipMode,*#611,eo,3|ports,[#612,eo,4,latomic
v1.ConditionStatus	=s
v1.APIServiceConditionType	=s
v1.ConditionStatus	=s
v1.DaemonSetUpdateStrategyType	=s
v1.RollingUpdateDaemonSet	maxUnavailable,*I,eo,1|maxSurge,*I,eo,2
v1.DaemonSetConditionType	=s
v1.DeploymentStrategyType	=s
v1.RollingUpdateDeployment	maxUnavailable,*I,eo,1|maxSurge,*I,eo,2
v1.DeploymentConditionType	=s
v1.ReplicaSetConditionType	=s
v1.StatefulSetUpdateStrategyType	=s
v1.RollingUpdateStatefulSetStrategy	partition,*i,eo,1|maxUnavailable,*I,eo,2
v1.PersistentVolumeClaimRetentionPolicyType	=s
v1.StatefulSetConditionType	=s
v1.ExtraValue	=&[s
v1.FieldSelectorAttributes	rawSelector,s,eo,1|requirements,[#613,eo,2,latomic
v1.LabelSelectorAttributes	rawSelector,s,eo,1|requirements,[#355,eo,2,latomic
v2.MetricSourceType	=s
v2.ObjectMetricSource	describedObject,#323,,1|target,#614,,2|metric,#615,,3
v2.PodsMetricSource	metric,#615,,1|target,#614,,2
v2.ResourceMetricSource	name,#586,,1|target,#614,,2
v2.ContainerResourceMetricSource	name,#586,,1|target,#614,,2|container,s,,3
v2.ExternalMetricSource	metric,#615,,1|target,#614,,2
v2.HPAScalingRules	stabilizationWindowSeconds,*i,eo,3|selectPolicy,*#616,eo,1|policies,[#617,eo,2,latomic|tolerance,*q,eo,4
v2.ObjectMetricStatus	metric,#615,,1|current,#618,,2|describedObject,#323,,3
v2.PodsMetricStatus	metric,#615,,1|current,#618,,2
v2.ResourceMetricStatus	name,#586,,1|current,#618,,2
v2.ContainerResourceMetricStatus	name,#586,,1|current,#618,,2|container,s,,3
v2.ExternalMetricStatus	metric,#615,,1|current,#618,,2
v2.HorizontalPodAutoscalerConditionType	=s
v1.PodFailurePolicyRule	action,#619,,1|onExitCodes,*#620,eo,2|onPodConditions,[#621,eo,3,latomic
v1.SuccessPolicyRule	succeededIndexes,*s,eo,1|succeededCount,*i,eo,2
v1alpha3.WorkloadPodGroupSchedulingPolicy	basic,*#622,eo,1|gang,*#623,eo,2
v1alpha3.WorkloadPodGroupSchedulingConstraints	topology,[#624,eo,1,latomic
v1alpha3.WorkloadPodGroupDisruptionMode	single,*#625,eo,1|all,*#626,eo,2
v1alpha3.WorkloadPodGroupResourceClaim	name,s,,1|resourceClaimName,*s,eo,2|resourceClaimTemplateName,*s,eo,3
v1.JobConditionType	=s
v1.RequestConditionType	=s
v1.IngressServiceBackend	name,s,,1|port,#627,eo,2
v1.HTTPIngressRuleValue	paths,[#628,,1,latomic
v1.IngressLoadBalancerIngress	ip,s,eo,1|hostname,s,eo,2|ports,[#629,eo,4,latomic
v1.NetworkPolicyPort	protocol,*#383,eo,1|port,*I,eo,2|endPort,*i,eo,3
v1.NetworkPolicyPeer	podSelector,*#159,eo,1|namespaceSelector,*#159,eo,2|ipBlock,*#630,eo,3
v1.VolumeNodeResources	count,*i,eo,1
v1.StorageHealthCondition	status,#631,,1|reason,s,,2|message,s,eo,3|accessMode,*#250,eo,4|volumeMode,*#251,eo,5|lastTransitionTime,t,eo,6
v1.LabelSelectorOperator	=s
v1.NamedRuleWithOperations	resourceNames,[s,eo,1,latomic|operations,[#539,eo,2.1,latomic|apiGroups,[s,eo,2.2.1,latomic|apiVersions,[s,eo,2.2.2,latomic|resources,[s,eo,2.2.3,latomic|scope,*#540,eo,2.2.4
v1.PatchType	=s
v1.ApplyConfiguration	expression,s,eo,1
v1.JSONPatch	expression,s,eo,1
v1.ParameterNotFoundActionType	=s
v1.ServiceReference	namespace,s,,1|name,s,,2|path,*s,eo,3|port,*i,eo,4
v1.OperationType	=s
v1.ScopeType	=s
v1.ExpressionWarning	fieldRef,s,,2|warning,s,,3
v1.CustomResourceValidation	openAPIV3Schema,*#632,eo,1
v1.CustomResourceSubresources	status,*#633,eo,1|scale,*#634,eo,2
v1.CustomResourceColumnDefinition	name,s,,1|type,s,,2|format,s,eo,3|description,s,eo,4|priority,i,eo,5|jsonPath,s,,6
v1.SelectableField	jsonPath,s,,1
v1.ConversionStrategyType	=s
v1.WebhookConversion	clientConfig,*#635,eo,2|conversionReviewVersions,[s,,3,latomic
v1.CustomResourceDefinitionConditionType	=s
v1.ConditionStatus	=s
v1.ForZone	name,s,,1
v1.ForNode	name,s,,1
v1.CELDeviceSelector	expression,s,,1
v1.OpaqueDeviceConfiguration	driver,s,,1|parameters,R,,2
v1.DeviceRequest	name,s,,1|exactly,*#636,eo,2|firstAvailable,[#637,eo,3,latomic
v1.DeviceConstraint	requests,[s,eo,1,latomic|matchAttribute,*#394,eo,2|distinctAttribute,*#394,eo,3
v1.DeviceClaimConfiguration	requests,[s,eo,1,latomic|opaque,*#553,eo,2.1
v1.DeviceAllocationResult	results,[#638,eo,1,latomic|config,[#639,eo,2,latomic
v1.NetworkDeviceData	interfaceName,s,eo,1|ips,[s,eo,2,latomic|hardwareAddress,s,eo,3
v1.NodeSelectorTerm	matchExpressions,[#640,eo,1,latomic|matchFields,[#640,eo,2,latomic
v1.DeviceAttribute	int,*l,eo,2|bool,*b,eo,3|string,*s,eo,4|version,*s,eo,5|ints,[l,eo,6,latomic|bools,[b,eo,7,latomic|strings,[s,eo,8,latomic|versions,[s,eo,9,latomic
v1.DeviceCapacity	value,q,,1|requestPolicy,*#641,eo,2
v1.DeviceCounterConsumption	counterSet,s,,1|counters,{#565,eo,2|compatibilityGroups,[s,eo,3,latomic
v1.DeviceTaint	key,s,,1|value,s,eo,2|effect,#642,,3|timeAdded,*t,eo,4
v1.NodeAllocatableResource	mapping,*#643,eo,3|overhead,*#644,eo,4
v1.Counter	value,q,,1
v1.FlowDistinguisherMethodType	=s
v1.Subject	kind,#645,,1|user,*#646,eo,2|group,*#647,eo,3|serviceAccount,*#648,eo,4
v1.ResourcePolicyRule	verbs,[s,,1,lset|apiGroups,[s,,2,lset|resources,[s,,3,lset|clusterScope,b,eo,4|namespaces,[s,o,5,lset
v1.NonResourcePolicyRule	verbs,[s,,1,lset|nonResourceURLs,[s,,6,lset
v1.FlowSchemaConditionType	=s
v1.ConditionStatus	=s
v1.LimitResponse	type,#649,,1|queuing,*#650,eo,2
v1.PriorityLevelConfigurationConditionType	=s
v2.APIResourceDiscovery	resource,s,o,1|responseKind,*#651,eo,2|scope,#652,o,3|singularResource,s,o,4|verbs,[s,o,5,lset|shortNames,[s,eo,6,lset|categories,[s,eo,7,lset|subresources,[#653,eo,8,lmap,Ksubresource
v2.DiscoveryFreshness	=s
v1.CauseType	=s
v1.VolumeHealthStatusType	=s
v1.StorageMedium	=s
v1.KeyToPath	key,s,,1|path,s,,2|mode,*i,eo,3|user,*l,eo,4
v1.DownwardAPIVolumeFile	path,s,,1|fieldRef,*#654,eo,2|resourceFieldRef,*#655,eo,3|mode,*i,eo,4|user,*l,eo,5
v1.VolumeProjection	secret,*#656,eo,1|downwardAPI,*#657,eo,2|configMap,*#658,eo,3|serviceAccountToken,*#659,eo,4|clusterTrustBundle,*#660,eo,5|podCertificate,*#661,eo,6
v1.PersistentVolumeClaimTemplate	metadata,#0,eo,1|spec,#101,,2
v1.ConfigMapEnvSource	name,s,eo,1.1,d""|optional,*b,eo,2
v1.SecretEnvSource	name,s,eo,1.1,d""|optional,*b,eo,2
v1.EnvVarSource	fieldRef,*#654,eo,1|resourceFieldRef,*#655,eo,2|configMapKeyRef,*#662,eo,3|secretKeyRef,*#663,eo,4|fileKeyRef,*#664,eo,5
v1.ResourceName	=s
v1.ResourceResizeRestartPolicy	=s
v1.ContainerRestartRuleAction	=s
v1.ContainerRestartRuleOnExitCodes	operator,#665,eo,1|values,[i,eo,2,lset
v1.RecursiveReadOnlyMode	=s
v1.MountPropagationMode	=s
v1.ExecAction	command,[s,eo,1,latomic
v1.HTTPGetAction	path,s,eo,1|port,I,,2|host,s,eo,3|scheme,#666,eo,4|httpHeaders,[#667,eo,5,latomic|protocol,*#668,eo,6
v1.TCPSocketAction	port,I,,1|host,s,eo,2
v1.GRPCAction	port,i,,1|service,*s,o,2,d""|mode,*#669,eo,3
v1.LifecycleHandler	exec,*#592,eo,1|httpGet,*#593,eo,2|tcpSocket,*#594,eo,3|sleep,*#670,eo,4
v1.Capabilities	add,[#671,eo,1,latomic|drop,[#671,eo,2,latomic
v1.ProcMountType	=s
v1.SeccompProfileType	=s
v1.AppArmorProfileType	=s
v1.PreferredSchedulingTerm	weight,i,,1|preference,#559,,2
v1.PodAffinityTerm	labelSelector,*#159,eo,1|namespaces,[s,eo,2,latomic|topologyKey,s,,3|namespaceSelector,*#159,eo,4|matchLabelKeys,[s,eo,5,latomic|mismatchLabelKeys,[s,eo,6,latomic
v1.WeightedPodAffinityTerm	weight,i,,1|podAffinityTerm,#602,,2
v1.ContainerStateWaiting	reason,s,eo,1|message,s,eo,2
v1.ContainerStateRunning	startedAt,t,eo,1
v1.ContainerStateTerminated	exitCode,i,,1|signal,i,eo,2|reason,s,eo,3|message,s,eo,4|startedAt,t,eo,5|finishedAt,t,eo,6|containerID,s,eo,7
v1.VolumeStatus	image,*#672,eo,1
v1.LinuxContainerUser	uid,l,,1|gid,l,,2|supplementalGroups,[l,eo,3,latomic
v1.ResourceHealth	resourceID,#673,,1|health,#674,eo,2|message,*s,eo,6
v1.ScopeSelectorOperator	=s
v1.LoadBalancerIPMode	=s
v1.PortStatus	port,i,,1|protocol,#383,,2|error,*s,eo,3
v1.FieldSelectorRequirement	key,s,,1|operator,#675,,2|values,[s,eo,3,latomic
v2.MetricTarget	type,#676,,1|value,*q,eo,2|averageValue,*q,eo,3|averageUtilization,*i,eo,4
v2.MetricIdentifier	name,s,,1|selector,*#159,eo,2
v2.ScalingPolicySelect	=s
v2.HPAScalingPolicy	type,#677,,1|value,i,,2|periodSeconds,i,,3
v2.MetricValueStatus	value,*q,eo,1|averageValue,*q,eo,2|averageUtilization,*i,eo,3
v1.PodFailurePolicyAction	=s
v1.PodFailurePolicyOnExitCodesRequirement	containerName,*s,eo,1|operator,#678,,2|values,[i,,3,lset
v1.PodFailurePolicyOnPodConditionsPattern	type,#470,,1|status,#206,o,2
v1alpha3.WorkloadPodGroupBasicSchedulingPolicy	
v1alpha3.WorkloadPodGroupGangSchedulingPolicy	minCount,*i,eo,1
v1alpha3.TopologyConstraint	key,s,,1
v1alpha3.WorkloadPodGroupSingleDisruptionMode	
v1alpha3.WorkloadPodGroupAllDisruptionMode	
v1.ServiceBackendPort	name,s,eo,1|number,i,eo,2
v1.HTTPIngressPath	path,s,eo,1|pathType,*#679,,3|backend,#341,,2
v1.IngressPortStatus	port,i,,1|protocol,#383,,2|error,*s,eo,3
v1.IPBlock	cidr,s,,1|except,[s,eo,2,latomic
v1.StorageHealthStatusType	=s
v1.JSONSchemaProps	id,s,eo,1|$schema,#680,eo,2|$ref,*s,eo,3|description,s,eo,4|type,s,eo,5|format,s,eo,6|title,s,eo,7|default,*a,eo,8|maximum,*f,eo,9|exclusiveMaximum,b,eo,10|minimum,*f,eo,11|exclusiveMinimum,b,eo,12|maxLength,*l,eo,13|minLength,*l,eo,14|pattern,s,eo,15|maxItems,*l,eo,16|minItems,*l,eo,17|uniqueItems,b,eo,18|multipleOf,*f,eo,19|enum,[a,eo,20,latomic|maxProperties,*l,eo,21|minProperties,*l,eo,22|required,[s,eo,23,latomic|items,*~l#632,eo,24|allOf,[#632,eo,25,latomic|oneOf,[#632,eo,26,latomic|anyOf,[#632,eo,27,latomic|not,*#632,eo,28|properties,{#632,eo,29|additionalProperties,*~b#632,eo,30|patternProperties,{#632,eo,31|dependencies,#681,eo,32|additionalItems,*~b#632,eo,33|definitions,#682,eo,34|externalDocs,*#683,eo,35|example,*a,eo,36|nullable,b,eo,37|x-kubernetes-preserve-unknown-fields,*b,eo,38|x-kubernetes-embedded-resource,b,eo,39|x-kubernetes-int-or-string,b,eo,40|x-kubernetes-list-map-keys,[s,eo,41,latomic|x-kubernetes-list-type,*s,eo,42|x-kubernetes-map-type,*s,eo,43|x-kubernetes-validations,#684,eo,44,pmerge,krule,lmap,Krule
v1.CustomResourceSubresourceStatus	
v1.CustomResourceSubresourceScale	specReplicasPath,s,,1|statusReplicasPath,s,,2|labelSelectorPath,*s,eo,3
v1.WebhookClientConfig	url,*s,eo,3|service,*#685,eo,1|caBundle,y,eo,2
v1.ExactDeviceRequest	deviceClassName,s,,1|selectors,[#384,eo,2,latomic|allocationMode,#686,eo,3|count,l,eo,4|adminAccess,*b,eo,5|tolerations,[#687,eo,6,latomic|capacity,*#688,eo,7|derivedAttributes,[#689,eo,8,latomic
v1.DeviceSubRequest	name,s,,1|deviceClassName,s,,2|selectors,[#384,eo,3,latomic|allocationMode,#686,eo,4|count,l,eo,5|tolerations,[#687,eo,6,latomic|capacity,*#688,eo,7|derivedAttributes,[#689,eo,8,latomic
v1.DeviceRequestAllocationResult	request,s,,1|driver,s,,2|pool,s,,3|device,s,,4|adminAccess,*b,eo,5|tolerations,[#687,eo,6,latomic|bindingConditions,[s,eo,7,latomic|bindingFailureConditions,[s,eo,8,latomic|shareID,*#86,eo,9|consumedCapacity,{q,eo,10|skipNodeOperations,[#395,eo,11,lset
v1.DeviceAllocationConfiguration	source,#690,,1|requests,[s,eo,2,latomic|opaque,*#553,eo,3.1
v1.NodeSelectorRequirement	key,s,,1|operator,#691,,2|values,[s,eo,3,latomic
v1.CapacityRequestPolicy	default,*q,o,1|validValues,[q,eo,3,latomic|validRange,*#692,eo,4
v1.DeviceTaintEffect	=s
v1.NodeAllocatableMapping	capacityKey,*#693,eo,1|capacityMultiplier,*q,eo,2|deviceMultiplier,*q,eo,3
v1.NodeAllocatableOverhead	perPod,*q,eo,1|perContainer,*q,eo,2
v1.SubjectKind	=s
v1.UserSubject	name,s,,1
v1.GroupSubject	name,s,,1
v1.ServiceAccountSubject	namespace,s,,1|name,s,,2
v1.LimitResponseType	=s
v1.QueuingConfiguration	queues,i,o,1|handSize,i,o,2|queueLengthLimit,i,o,3
v1.GroupVersionKind	group,s,,1|version,s,,2|kind,s,,3
v2.ResourceScope	=s
v2.APISubresourceDiscovery	subresource,s,o,1|responseKind,*#651,eo,2|acceptedTypes,[#651,eo,3,lmap,Kgroup+version+kind|verbs,[s,o,4,lset
v1.ObjectFieldSelector	apiVersion,s,eo,1|fieldPath,s,,2
v1.ResourceFieldSelector	containerName,s,eo,1|resource,s,,2|divisor,q,eo,3
v1.SecretProjection	name,s,eo,1.1,d""|items,[#579,eo,2,latomic|optional,*b,eo,4
v1.DownwardAPIProjection	items,[#580,eo,1,latomic
v1.ConfigMapProjection	name,s,eo,1.1,d""|items,[#579,eo,2,latomic|optional,*b,eo,4
v1.ServiceAccountTokenProjection	audience,s,eo,1|expirationSeconds,*l,eo,2|path,s,,3|user,*l,eo,4
v1.ClusterTrustBundleProjection	name,*s,eo,1|signerName,*s,eo,2|labelSelector,*#159,eo,3|optional,*b,eo,5|path,s,,4|user,*l,eo,6
v1.PodCertificateProjection	signerName,s,eo,1|keyType,s,eo,2|maxExpirationSeconds,*i,eo,3|credentialBundlePath,s,eo,4|keyPath,s,eo,5|certificateChainPath,s,eo,6|userAnnotations,{s,eo,7|user,*l,eo,8
v1.ConfigMapKeySelector	name,s,eo,1.1,d""|key,s,,2|optional,*b,eo,3
v1.SecretKeySelector	name,s,eo,1.1,d""|key,s,,2|optional,*b,eo,3
v1.FileKeySelector	volumeName,s,,1|path,s,,2|key,s,,3|optional,*b,eo,4,dfalse
v1.ContainerRestartRuleOnExitCodesOperator	=s
v1.URIScheme	=s
v1.HTTPHeader	name,s,,1|value,s,,2
v1.HTTPProtocol	=s
v1.GRPCProbeMode	=s
v1.SleepAction	seconds,l,,1
v1.Capability	=s
v1.ImageVolumeStatus	imageRef,s,eo,1
v1.ResourceID	=s
v1.ResourceHealthStatus	=s
v1.FieldSelectorOperator	=s
v2.MetricTargetType	=s
v2.HPAScalingPolicyType	=s
v1.PodFailurePolicyOnExitCodesOperator	=s
v1.PathType	=s
v1.JSONSchemaURL	=s
v1.JSONSchemaDependencies	={~s#632
v1.JSONSchemaDefinitions	={#632
v1.ExternalDocumentation	description,s,eo,1|url,s,eo,2
v1.ValidationRules	=[#694
v1.ServiceReference	namespace,s,,1|name,s,,2|path,*s,eo,3|port,*i,eo,4
v1.DeviceAllocationMode	=s
v1.DeviceToleration	key,s,eo,1|operator,#695,eo,2,d"Equal"|value,s,eo,3|effect,#642,eo,4|tolerationSeconds,*l,eo,5
v1.CapacityRequirements	requests,{q,eo,1
v1.DeviceDerivedAttribute	name,#394,,1|expression,s,,2
v1.AllocationConfigSource	=s
v1.NodeSelectorOperator	=s
v1.CapacityRequestPolicyRange	min,*q,eo,1|max,*q,eo,2|step,*q,eo,3
v1.QualifiedName	=s
v1.ValidationRule	rule,s,,1|message,s,eo,2|messageExpression,s,eo,3|reason,*#696,eo,4|fieldPath,s,eo,5|optionalOldSelf,*b,eo,6
v1.DeviceTolerationOperator	=s
v1.FieldValueErrorReason	=s`;
