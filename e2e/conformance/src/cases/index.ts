// Importing a file registers its cases.
import './discovery.js';
import './hostile.js';
import './negotiation.js';
import './lists.js';
import './watches.js';
import './creates.js';
import './updates.js';
import './subresources.js';
import './patches.js';
import './deletes.js';
import './definitions.js';
import './cel.js';
import './conversion.js';
import './options.js';
import './access.js';
import './admission-requests.js';
