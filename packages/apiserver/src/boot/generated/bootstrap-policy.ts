// Written by scripts/generate-bootstrap-policy.mjs from the objects of kube-apiserver v1.36.3. Do not edit.
// Facts of Kubernetes, Copyright The Kubernetes Authors, Apache-2.0.

/**
 * One line for each role (`role namespace name aggregated-to aggregated-from`) and binding (`binding namespace name
 * kind role`); below it, indented, a line for each rule (`verbs;groups;resources;names;urls`) or subject
 * (`kind;namespace;name`).
 */
export const bootstrapPolicy: string = `role  admin  admin
role  cluster-admin  
  *;*;*;;
  *;;;;*
role  edit admin edit
role  system:aggregate-to-admin admin 
  create;authorization.k8s.io;localsubjectaccessreviews;;
  create,delete,deletecollection,get,list,patch,update,watch;rbac.authorization.k8s.io;rolebindings,roles;;
role  system:aggregate-to-edit edit 
  get,list,watch;;pods/attach,pods/exec,pods/portforward,pods/proxy,secrets,services/proxy;;
  impersonate;;serviceaccounts;;
  create,delete,deletecollection,patch,update;;pods,pods/attach,pods/exec,pods/portforward,pods/proxy;;
  create;;pods/eviction;;
  create,delete,deletecollection,patch,update;;configmaps,persistentvolumeclaims,replicationcontrollers,replicationcontrollers/scale,secrets,serviceaccounts,services,services/proxy;;
  create;;serviceaccounts/token;;
  create,delete,deletecollection,patch,update;,events.k8s.io;events;;
  create,delete,deletecollection,patch,update;apps;daemonsets,deployments,deployments/rollback,deployments/scale,replicasets,replicasets/scale,statefulsets,statefulsets/scale;;
  create,delete,deletecollection,patch,update;autoscaling;horizontalpodautoscalers;;
  create,delete,deletecollection,patch,update;batch;cronjobs,jobs;;
  create,delete,deletecollection,patch,update;extensions;daemonsets,deployments,deployments/rollback,deployments/scale,ingresses,networkpolicies,replicasets,replicasets/scale,replicationcontrollers/scale;;
  create,delete,deletecollection,patch,update;policy;poddisruptionbudgets;;
  create,delete,deletecollection,patch,update;networking.k8s.io;ingresses,networkpolicies;;
  create,delete,deletecollection,get,list,patch,update,watch;coordination.k8s.io;leases;;
  create,delete,deletecollection,patch,update;resource.k8s.io;resourceclaims,resourceclaimtemplates;;
role  system:aggregate-to-view view 
  get,list,watch;;configmaps,endpoints,persistentvolumeclaims,persistentvolumeclaims/status,pods,replicationcontrollers,replicationcontrollers/scale,serviceaccounts,services,services/status;;
  get,list,watch;;bindings,limitranges,namespaces/status,pods/log,pods/status,replicationcontrollers/status,resourcequotas,resourcequotas/status;;
  get,list,watch;;namespaces;;
  get,list,watch;,events.k8s.io;events;;
  get,list,watch;discovery.k8s.io;endpointslices;;
  get,list,watch;apps;controllerrevisions,daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,replicasets,replicasets/scale,replicasets/status,statefulsets,statefulsets/scale,statefulsets/status;;
  get,list,watch;autoscaling;horizontalpodautoscalers,horizontalpodautoscalers/status;;
  get,list,watch;batch;cronjobs,cronjobs/status,jobs,jobs/status;;
  get,list,watch;extensions;daemonsets,daemonsets/status,deployments,deployments/scale,deployments/status,ingresses,ingresses/status,networkpolicies,replicasets,replicasets/scale,replicasets/status,replicationcontrollers/scale;;
  get,list,watch;policy;poddisruptionbudgets,poddisruptionbudgets/status;;
  get,list,watch;networking.k8s.io;ingresses,ingresses/status,networkpolicies;;
  get,list,watch;resource.k8s.io;resourceclaims,resourceclaims/status,resourceclaimtemplates;;
role  system:auth-delegator  
  create;authentication.k8s.io;tokenreviews;;
  create;authorization.k8s.io;subjectaccessreviews;;
role  system:basic-user  
  create;authorization.k8s.io;selfsubjectaccessreviews,selfsubjectrulesreviews;;
  create;authentication.k8s.io;selfsubjectreviews;;
role  system:certificates.k8s.io:certificatesigningrequests:nodeclient  
  create;certificates.k8s.io;certificatesigningrequests/nodeclient;;
role  system:certificates.k8s.io:certificatesigningrequests:selfnodeclient  
  create;certificates.k8s.io;certificatesigningrequests/selfnodeclient;;
role  system:certificates.k8s.io:kube-apiserver-client-approver  
  approve;certificates.k8s.io;signers;kubernetes.io/kube-apiserver-client;
role  system:certificates.k8s.io:kube-apiserver-client-kubelet-approver  
  approve;certificates.k8s.io;signers;kubernetes.io/kube-apiserver-client-kubelet;
role  system:certificates.k8s.io:kubelet-serving-approver  
  approve;certificates.k8s.io;signers;kubernetes.io/kubelet-serving;
role  system:certificates.k8s.io:legacy-unknown-approver  
  approve;certificates.k8s.io;signers;kubernetes.io/legacy-unknown;
role  system:controller:attachdetach-controller  
  list,watch;;persistentvolumeclaims,persistentvolumes;;
  get,list,watch;;nodes;;
  patch,update;;nodes/status;;
  list,watch;;pods;;
  create,patch,update;,events.k8s.io;events;;
  create,delete,get,list,watch;storage.k8s.io;volumeattachments;;
  get,list,watch;storage.k8s.io;csidrivers;;
  get,list,watch;storage.k8s.io;csinodes;;
role  system:controller:certificate-controller  
  delete,get,list,watch;certificates.k8s.io;certificatesigningrequests;;
  update;certificates.k8s.io;certificatesigningrequests/approval,certificatesigningrequests/status;;
  approve;certificates.k8s.io;signers;kubernetes.io/kube-apiserver-client-kubelet;
  sign;certificates.k8s.io;signers;kubernetes.io/kube-apiserver-client,kubernetes.io/kube-apiserver-client-kubelet,kubernetes.io/kubelet-serving,kubernetes.io/legacy-unknown;
  create;authorization.k8s.io;subjectaccessreviews;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:clusterrole-aggregation-controller  
  escalate,get,list,patch,update,watch;rbac.authorization.k8s.io;clusterroles;;
role  system:controller:cronjob-controller  
  get,list,update,watch;batch;cronjobs;;
  create,delete,get,list,patch,update,watch;batch;jobs;;
  update;batch;cronjobs/status;;
  update;batch;cronjobs/finalizers;;
  delete,list,watch;;pods;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:daemon-set-controller  
  get,list,watch;apps,extensions;daemonsets;;
  update;apps,extensions;daemonsets/status;;
  update;apps,extensions;daemonsets/finalizers;;
  list,watch;;nodes;;
  create,delete,list,patch,watch;;pods;;
  create;;pods/binding;;
  create,delete,get,list,patch,update,watch;apps;controllerrevisions;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:deployment-controller  
  get,list,update,watch;apps,extensions;deployments;;
  update;apps,extensions;deployments/status;;
  update;apps,extensions;deployments/finalizers;;
  create,delete,get,list,patch,update,watch;apps,extensions;replicasets;;
  get,list,update,watch;;pods;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:device-taint-eviction-controller  
  delete,get,list,watch;;pods;;
  patch,update;;pods/status;;
  get,list,watch;resource.k8s.io;resourceclaims;;
  get,list,watch;resource.k8s.io;resourceslices;;
  get,list,watch;resource.k8s.io;deviceclasses;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:disruption-controller  
  get,list,watch;apps,extensions;deployments;;
  get,list,watch;apps,extensions;replicasets;;
  get,list,watch;;replicationcontrollers;;
  get,list,watch;policy;poddisruptionbudgets;;
  get,list,watch;apps;statefulsets;;
  update;policy;poddisruptionbudgets/status;;
  patch,update;;pods/status;;
  get;*;*/scale;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:endpoint-controller  
  get,list,watch;;pods,services;;
  create,delete,get,list,update,watch;;endpoints;;
  create;;endpoints/restricted;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:endpointslice-controller  
  get,list,watch;;nodes,pods,services;;
  update;;services/finalizers;;
  create,delete,get,list,update,watch;discovery.k8s.io;endpointslices;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:endpointslicemirroring-controller  
  get,list,watch;;endpoints,services;;
  update;;services/finalizers;;
  update;;endpoints/finalizers;;
  create,delete,get,list,update,watch;discovery.k8s.io;endpointslices;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:ephemeral-volume-controller  
  get,list,watch;;pods;;
  update;;pods/finalizers;;
  create,get,list,watch;;persistentvolumeclaims;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:expand-controller  
  get,list,patch,update,watch;;persistentvolumes;;
  patch,update;;persistentvolumeclaims/status;;
  get,list,watch;;persistentvolumeclaims;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:generic-garbage-collector  
  delete,get,list,patch,update,watch;*;*;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:horizontal-pod-autoscaler  
  get,list,watch;autoscaling;horizontalpodautoscalers;;
  update;autoscaling;horizontalpodautoscalers/status;;
  get,update;*;*/scale;;
  list,watch;;pods;;
  list,watch;metrics.k8s.io;pods;;
  get,list,watch;custom.metrics.k8s.io;*;;
  get,list,watch;external.metrics.k8s.io;*;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:job-controller  
  get,list,patch,update,watch;batch;jobs;;
  update;batch;jobs/status;;
  update;batch;jobs/finalizers;;
  create,delete,list,patch,watch;;pods;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:legacy-service-account-token-cleaner  
  get;;configmaps;kube-apiserver-legacy-service-account-token-tracking;
  delete,patch;;secrets;;
role  system:controller:namespace-controller  
  delete,get,list,watch;;namespaces;;
  update;;namespaces/finalize,namespaces/status;;
  delete,deletecollection,get,list,watch;*;*;;
role  system:controller:node-controller  
  delete,get,list,patch,update,watch;;nodes;;
  patch,update;;nodes/status;;
  patch,update;;pods/status;;
  delete,get,list,watch;;pods;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:persistent-volume-binder  
  create,delete,get,list,update,watch;;persistentvolumes;;
  update;;persistentvolumes/status;;
  get,list,update,watch;;persistentvolumeclaims;;
  update;;persistentvolumeclaims/status;;
  create,delete,get,list,watch;;pods;;
  get,list,watch;storage.k8s.io;storageclasses;;
  list,watch;;nodes;;
  create,patch,update;,events.k8s.io;events;;
  watch;;events;;
role  system:controller:pod-garbage-collector  
  delete,list,watch;;pods;;
  get,list,watch;;nodes;;
  patch;;pods/status;;
role  system:controller:pv-protection-controller  
  get,list,update,watch;;persistentvolumes;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:pvc-protection-controller  
  get,list,update,watch;;persistentvolumeclaims;;
  update;;persistentvolumeclaims/status;;
  get,list,watch;;pods;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:replicaset-controller  
  get,list,update,watch;apps,extensions;replicasets;;
  update;apps,extensions;replicasets/status;;
  update;apps,extensions;replicasets/finalizers;;
  create,delete,list,patch,watch;;pods;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:replication-controller  
  get,list,update,watch;;replicationcontrollers;;
  update;;replicationcontrollers/status;;
  update;;replicationcontrollers/finalizers;;
  create,delete,list,patch,watch;;pods;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:resource-claim-controller  
  get,list,watch;;pods;;
  update;;pods/finalizers;;
  create,delete,get,list,watch;resource.k8s.io;resourceclaims;;
  patch,update;resource.k8s.io;resourceclaims,resourceclaims/status;;
  patch,update;;pods/status;;
  create,patch,update;,events.k8s.io;events;;
  patch,update;resource.k8s.io;resourceclaims/binding;;
role  system:controller:resourcequota-controller  
  list,watch;*;*;;
  update;;resourcequotas/status;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:root-ca-cert-publisher  
  create,update;;configmaps;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:route-controller  
  list,watch;;nodes;;
  patch;;nodes/status;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:selinux-warning-controller  
  create,patch,update;,events.k8s.io;events;;
  get,list,watch;;persistentvolumes;;
  get,list,watch;;persistentvolumeclaims;;
  get,list,watch;;pods;;
  get,list,watch;storage.k8s.io;csidrivers;;
role  system:controller:service-account-controller  
  create;;serviceaccounts;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:service-cidrs-controller  
  get,list,patch,update,watch;networking.k8s.io;servicecidrs;;
  patch,update;networking.k8s.io;servicecidrs/finalizers;;
  patch,update;networking.k8s.io;servicecidrs/status;;
  get,list,watch;networking.k8s.io;ipaddresses;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:service-controller  
  get,list,watch;;services;;
  patch,update;;services/status;;
  list,watch;;nodes;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:statefulset-controller  
  list,watch;;pods;;
  get,list,watch;apps;statefulsets;;
  update;apps;statefulsets/status;;
  update;apps;statefulsets/finalizers;;
  create,delete,get,patch,update;;pods;;
  create,delete,get,list,patch,update,watch;apps;controllerrevisions;;
  create,get,list,watch;;persistentvolumeclaims;;
  delete,update;;persistentvolumeclaims;;
  update;;pods/finalizers;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:ttl-after-finished-controller  
  delete,get,list,watch;batch;jobs;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:ttl-controller  
  list,patch,update,watch;;nodes;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:validatingadmissionpolicy-status-controller  
  get,list,watch;admissionregistration.k8s.io;validatingadmissionpolicies;;
  get,patch,update;admissionregistration.k8s.io;validatingadmissionpolicies/status;;
  create,patch,update;,events.k8s.io;events;;
role  system:controller:volumeattributesclass-protection-controller  
  get,list,watch;;persistentvolumeclaims;;
  get,list,watch;;persistentvolumes;;
  get,list,update,watch;storage.k8s.io;volumeattributesclasses;;
  create,patch,update;,events.k8s.io;events;;
role  system:discovery  
  get;;;;/api,/api/*,/apis,/apis/*,/healthz,/livez,/openapi,/openapi/*,/readyz,/version,/version/
role  system:heapster  
  get,list,watch;;events,namespaces,nodes,pods;;
  get,list,watch;extensions;deployments;;
role  system:kube-aggregator  
  get,list,watch;;endpoints,services;;
role  system:kube-controller-manager  
  create,patch,update;,events.k8s.io;events;;
  create;coordination.k8s.io;leases;;
  get,update;coordination.k8s.io;leases;kube-controller-manager;
  create;;secrets,serviceaccounts;;
  delete;;secrets;;
  get;;configmaps,namespaces,secrets,serviceaccounts;;
  update;;secrets,serviceaccounts;;
  create;authentication.k8s.io;tokenreviews;;
  create;authorization.k8s.io;subjectaccessreviews;;
  list,watch;*;*;;
  create;;serviceaccounts/token;;
role  system:kube-dns  
  list,watch;;endpoints,services;;
role  system:kube-scheduler  
  create,patch,update;,events.k8s.io;events;;
  create;coordination.k8s.io;leases;;
  get,list,update,watch;coordination.k8s.io;leases;kube-scheduler;
  create,delete,deletecollection,get,list,patch,update,watch;coordination.k8s.io;leasecandidates;;
  get,list,watch;;nodes;;
  delete,get,list,watch;;pods;;
  create;;bindings,pods/binding;;
  patch,update;;pods/status;;
  get,list,watch;;replicationcontrollers,services;;
  get,list,watch;apps,extensions;replicasets;;
  get,list,watch;apps;statefulsets;;
  get,list,watch;policy;poddisruptionbudgets;;
  get,list,watch;;persistentvolumeclaims,persistentvolumes;;
  create;authentication.k8s.io;tokenreviews;;
  create;authorization.k8s.io;subjectaccessreviews;;
  get,list,watch;storage.k8s.io;csinodes;;
  get,list,watch;storage.k8s.io;volumeattachments;;
  get,list,watch;;namespaces;;
  get,list,watch;storage.k8s.io;csidrivers;;
  get,list,watch;storage.k8s.io;csistoragecapacities;;
  get,list,watch;resource.k8s.io;deviceclasses;;
  get,list,patch,update,watch;resource.k8s.io;resourceclaims;;
  get,list,patch,update,watch;resource.k8s.io;resourceclaims/status;;
  update;;pods/finalizers;;
  get,list,watch;resource.k8s.io;resourceslices;;
  create,delete;resource.k8s.io;resourceclaims;;
  patch,update;resource.k8s.io;resourceclaims/binding;;
role  system:kubelet-api-admin  
  get,list,watch;;nodes;;
  proxy;;nodes;;
  *;;nodes/log,nodes/metrics,nodes/proxy,nodes/stats;;
  *;;nodes/configz,nodes/healthz,nodes/pods;;
role  system:monitoring  
  get;;;;/flagz,/healthz,/healthz/*,/livez,/livez/*,/metrics,/metrics/slis,/readyz,/readyz/*,/statusz
  get;;nodes/metrics;;
role  system:node  
  create;authentication.k8s.io;tokenreviews;;
  create;authorization.k8s.io;localsubjectaccessreviews,subjectaccessreviews;;
  get,list,watch;;services;;
  create,get,list,watch;;nodes;;
  patch,update;;nodes/status;;
  patch,update;;nodes;;
  create,patch,update;,events.k8s.io;events;;
  get,list,watch;;pods;;
  create,delete;;pods;;
  patch,update;;pods/status;;
  create;;pods/eviction;;
  get,list,watch;;configmaps,secrets;;
  get;;persistentvolumeclaims,persistentvolumes;;
  get;;endpoints;;
  create,get,list,watch;certificates.k8s.io;certificatesigningrequests;;
  create,delete,get,patch,update;coordination.k8s.io;leases;;
  get;storage.k8s.io;volumeattachments;;
  create;;serviceaccounts/token;;
  get,patch,update;;persistentvolumeclaims/status;;
  get,list,watch;storage.k8s.io;csidrivers;;
  create,delete,get,patch,update;storage.k8s.io;csinodes;;
  get,list,watch;node.k8s.io;runtimeclasses;;
  get;resource.k8s.io;resourceclaims;;
  deletecollection;resource.k8s.io;resourceslices;;
  get;;serviceaccounts;;
role  system:node-bootstrapper  
  create,get,list,watch;certificates.k8s.io;certificatesigningrequests;;
role  system:node-problem-detector  
  get;;nodes;;
  patch;;nodes/status;;
  create,patch,update;,events.k8s.io;events;;
role  system:node-proxier  
  list,watch;;endpoints,services;;
  get,list,watch;;nodes;;
  create,patch,update;,events.k8s.io;events;;
  list,watch;networking.k8s.io;servicecidrs;;
  list,watch;discovery.k8s.io;endpointslices;;
role  system:persistent-volume-provisioner  
  create,delete,get,list,watch;;persistentvolumes;;
  get,list,update,watch;;persistentvolumeclaims;;
  get,list,watch;storage.k8s.io;storageclasses;;
  watch;;events;;
  create,patch,update;,events.k8s.io;events;;
role  system:public-info-viewer  
  get;;;;/healthz,/livez,/readyz,/version,/version/
role  system:service-account-issuer-discovery  
  get;;;;/.well-known/openid-configuration,/.well-known/openid-configuration/,/openid/v1/jwks,/openid/v1/jwks/
role  system:volume-scheduler  
  get,list,patch,update,watch;;persistentvolumes;;
  get,list,watch;storage.k8s.io;storageclasses;;
  get,list,patch,update,watch;;persistentvolumeclaims;;
role  view edit view
role kube-public system:controller:bootstrap-signer  
  get,list,watch;;configmaps;;
  update;;configmaps;cluster-info;
  create,patch,update;,events.k8s.io;events;;
role kube-system extension-apiserver-authentication-reader  
  get,list,watch;;configmaps;extension-apiserver-authentication;
role kube-system system::leader-locking-kube-controller-manager  
  create,get,list,update,watch;coordination.k8s.io;leases;;
  create,get,list,update,watch;coordination.k8s.io;leasecandidates;;
role kube-system system::leader-locking-kube-scheduler  
  create,get,list,update,watch;coordination.k8s.io;leases;;
  create,get,list,update,watch;coordination.k8s.io;leasecandidates;;
role kube-system system:controller:bootstrap-signer  
  get,list,watch;;secrets;;
role kube-system system:controller:cloud-provider  
  create,get,list,watch;;configmaps;;
role kube-system system:controller:token-cleaner  
  delete,get,list,watch;;secrets;;
  create,patch,update;,events.k8s.io;events;;
binding  cluster-admin ClusterRole cluster-admin
  Group;;system:masters
binding  system:basic-user ClusterRole system:basic-user
  Group;;system:authenticated
binding  system:controller:attachdetach-controller ClusterRole system:controller:attachdetach-controller
  ServiceAccount;kube-system;attachdetach-controller
binding  system:controller:certificate-controller ClusterRole system:controller:certificate-controller
  ServiceAccount;kube-system;certificate-controller
binding  system:controller:clusterrole-aggregation-controller ClusterRole system:controller:clusterrole-aggregation-controller
  ServiceAccount;kube-system;clusterrole-aggregation-controller
binding  system:controller:cronjob-controller ClusterRole system:controller:cronjob-controller
  ServiceAccount;kube-system;cronjob-controller
binding  system:controller:daemon-set-controller ClusterRole system:controller:daemon-set-controller
  ServiceAccount;kube-system;daemon-set-controller
binding  system:controller:deployment-controller ClusterRole system:controller:deployment-controller
  ServiceAccount;kube-system;deployment-controller
binding  system:controller:device-taint-eviction-controller ClusterRole system:controller:device-taint-eviction-controller
  ServiceAccount;kube-system;device-taint-eviction-controller
binding  system:controller:disruption-controller ClusterRole system:controller:disruption-controller
  ServiceAccount;kube-system;disruption-controller
binding  system:controller:endpoint-controller ClusterRole system:controller:endpoint-controller
  ServiceAccount;kube-system;endpoint-controller
binding  system:controller:endpointslice-controller ClusterRole system:controller:endpointslice-controller
  ServiceAccount;kube-system;endpointslice-controller
binding  system:controller:endpointslicemirroring-controller ClusterRole system:controller:endpointslicemirroring-controller
  ServiceAccount;kube-system;endpointslicemirroring-controller
binding  system:controller:ephemeral-volume-controller ClusterRole system:controller:ephemeral-volume-controller
  ServiceAccount;kube-system;ephemeral-volume-controller
binding  system:controller:expand-controller ClusterRole system:controller:expand-controller
  ServiceAccount;kube-system;expand-controller
binding  system:controller:generic-garbage-collector ClusterRole system:controller:generic-garbage-collector
  ServiceAccount;kube-system;generic-garbage-collector
binding  system:controller:horizontal-pod-autoscaler ClusterRole system:controller:horizontal-pod-autoscaler
  ServiceAccount;kube-system;horizontal-pod-autoscaler
binding  system:controller:job-controller ClusterRole system:controller:job-controller
  ServiceAccount;kube-system;job-controller
binding  system:controller:legacy-service-account-token-cleaner ClusterRole system:controller:legacy-service-account-token-cleaner
  ServiceAccount;kube-system;legacy-service-account-token-cleaner
binding  system:controller:namespace-controller ClusterRole system:controller:namespace-controller
  ServiceAccount;kube-system;namespace-controller
binding  system:controller:node-controller ClusterRole system:controller:node-controller
  ServiceAccount;kube-system;node-controller
binding  system:controller:persistent-volume-binder ClusterRole system:controller:persistent-volume-binder
  ServiceAccount;kube-system;persistent-volume-binder
binding  system:controller:pod-garbage-collector ClusterRole system:controller:pod-garbage-collector
  ServiceAccount;kube-system;pod-garbage-collector
binding  system:controller:pv-protection-controller ClusterRole system:controller:pv-protection-controller
  ServiceAccount;kube-system;pv-protection-controller
binding  system:controller:pvc-protection-controller ClusterRole system:controller:pvc-protection-controller
  ServiceAccount;kube-system;pvc-protection-controller
binding  system:controller:replicaset-controller ClusterRole system:controller:replicaset-controller
  ServiceAccount;kube-system;replicaset-controller
binding  system:controller:replication-controller ClusterRole system:controller:replication-controller
  ServiceAccount;kube-system;replication-controller
binding  system:controller:resource-claim-controller ClusterRole system:controller:resource-claim-controller
  ServiceAccount;kube-system;resource-claim-controller
binding  system:controller:resourcequota-controller ClusterRole system:controller:resourcequota-controller
  ServiceAccount;kube-system;resourcequota-controller
binding  system:controller:root-ca-cert-publisher ClusterRole system:controller:root-ca-cert-publisher
  ServiceAccount;kube-system;root-ca-cert-publisher
binding  system:controller:route-controller ClusterRole system:controller:route-controller
  ServiceAccount;kube-system;route-controller
binding  system:controller:selinux-warning-controller ClusterRole system:controller:selinux-warning-controller
  ServiceAccount;kube-system;selinux-warning-controller
binding  system:controller:service-account-controller ClusterRole system:controller:service-account-controller
  ServiceAccount;kube-system;service-account-controller
binding  system:controller:service-cidrs-controller ClusterRole system:controller:service-cidrs-controller
  ServiceAccount;kube-system;service-cidrs-controller
binding  system:controller:service-controller ClusterRole system:controller:service-controller
  ServiceAccount;kube-system;service-controller
binding  system:controller:statefulset-controller ClusterRole system:controller:statefulset-controller
  ServiceAccount;kube-system;statefulset-controller
binding  system:controller:ttl-after-finished-controller ClusterRole system:controller:ttl-after-finished-controller
  ServiceAccount;kube-system;ttl-after-finished-controller
binding  system:controller:ttl-controller ClusterRole system:controller:ttl-controller
  ServiceAccount;kube-system;ttl-controller
binding  system:controller:validatingadmissionpolicy-status-controller ClusterRole system:controller:validatingadmissionpolicy-status-controller
  ServiceAccount;kube-system;validatingadmissionpolicy-status-controller
binding  system:controller:volumeattributesclass-protection-controller ClusterRole system:controller:volumeattributesclass-protection-controller
  ServiceAccount;kube-system;volumeattributesclass-protection-controller
binding  system:discovery ClusterRole system:discovery
  Group;;system:authenticated
binding  system:kube-controller-manager ClusterRole system:kube-controller-manager
  User;;system:kube-controller-manager
binding  system:kube-dns ClusterRole system:kube-dns
  ServiceAccount;kube-system;kube-dns
binding  system:kube-scheduler ClusterRole system:kube-scheduler
  User;;system:kube-scheduler
binding  system:monitoring ClusterRole system:monitoring
  Group;;system:monitoring
binding  system:node ClusterRole system:node
binding  system:node-proxier ClusterRole system:node-proxier
  User;;system:kube-proxy
binding  system:public-info-viewer ClusterRole system:public-info-viewer
  Group;;system:authenticated
  Group;;system:unauthenticated
binding  system:service-account-issuer-discovery ClusterRole system:service-account-issuer-discovery
  Group;;system:serviceaccounts
binding  system:volume-scheduler ClusterRole system:volume-scheduler
  User;;system:kube-scheduler
binding kube-public system:controller:bootstrap-signer Role system:controller:bootstrap-signer
  ServiceAccount;kube-system;bootstrap-signer
binding kube-system system::extension-apiserver-authentication-reader Role extension-apiserver-authentication-reader
  User;;system:kube-controller-manager
  User;;system:kube-scheduler
binding kube-system system::leader-locking-kube-controller-manager Role system::leader-locking-kube-controller-manager
  User;;system:kube-controller-manager
  ServiceAccount;kube-system;kube-controller-manager
  ServiceAccount;kube-system;leader-election-controller
binding kube-system system::leader-locking-kube-scheduler Role system::leader-locking-kube-scheduler
  User;;system:kube-scheduler
  ServiceAccount;kube-system;kube-scheduler
binding kube-system system:controller:bootstrap-signer Role system:controller:bootstrap-signer
  ServiceAccount;kube-system;bootstrap-signer
binding kube-system system:controller:cloud-provider Role system:controller:cloud-provider
  ServiceAccount;kube-system;cloud-provider
binding kube-system system:controller:token-cleaner Role system:controller:token-cleaner
  ServiceAccount;kube-system;token-cleaner`;
