import { GoTable } from './go-table.js';
import type { GoStruct } from './go-type.js';

// Lines of tooling/kube-facts' table; a test of the embedded server compares them with the table of all built-in types.
const lines = [
  'v1.ObjectMeta\tname,s,eo,1|generateName,s,eo,2|namespace,s,eo,3|selfLink,s,eo,4|uid,#1,eo,5|resourceVersion,s,eo,6|generation,l,eo,7|creationTimestamp,t,ezo,8|deletionTimestamp,*t,eo,9|deletionGracePeriodSeconds,*l,eo,10|labels,{s,eo,11|annotations,{s,eo,12|ownerReferences,[#2,eo,13,pmerge,kuid,lmap,Kuid|finalizers,[s,eo,14,pmerge,lset|managedFields,[#3,eo,17,latomic',
  'types.UID\t=s',
  'v1.OwnerReference\tapiVersion,s,,5|kind,s,,1|name,s,,3|uid,#1,,4|controller,*b,eo,6|blockOwnerDeletion,*b,eo,7',
  'v1.ManagedFieldsEntry\tmanager,s,eo,1|operation,#4,eo,2|apiVersion,s,eo,3|time,*t,eo,4|fieldsType,s,eo,6|fieldsV1,*a,eo,7|subresource,s,eo,8',
  'v1.ManagedFieldsOperationType\t=s',
];

let known: GoStruct | undefined;

/** The Go type of `metadata`. */
export function objectMetaStruct(): GoStruct {
  known ??= new GoTable(lines.join('\n')).struct(0);
  return known;
}
