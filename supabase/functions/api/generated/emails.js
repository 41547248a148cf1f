// GENERATED from emails/ by `npm run generate`. DO NOT EDIT.
// Contains react, react-dom, react-email.
// @ts-self-types="./emails.d.ts"
var hu=Object.create;var ma=Object.defineProperty;var gu=Object.getOwnPropertyDescriptor;var pu=Object.getOwnPropertyNames;var vu=Object.getPrototypeOf,yu=Object.prototype.hasOwnProperty;var Pn=(e,n)=>()=>{try{return n||e((n={exports:{}}).exports,n),n.exports}catch(t){throw n=0,t}};var bu=(e,n,t,r)=>{if(n&&typeof n=="object"||typeof n=="function")for(let i of pu(n))!yu.call(e,i)&&i!==t&&ma(e,i,{get:()=>n[i],
enumerable:!(r=gu(n,i))||r.enumerable});return e};var v=(e,n,t)=>(t=e!=null?hu(vu(e)):{},bu(n||!e||!e.__esModule?ma(t,"default",{value:e,enumerable:!0}):t,e));var ka=Pn(m=>{"use strict";var ii=Symbol.for("react.transitional.element"),mu=Symbol.for("react.portal"),wu=Symbol.for("\
react.fragment"),Tu=Symbol.for("react.strict_mode"),Pu=Symbol.for("react.profiler"),xu=Symbol.for("react.consumer"),Eu=Symbol.
for("react.context"),Ru=Symbol.for("react.forward_ref"),Cu=Symbol.for("react.suspense"),Au=Symbol.for("react.memo"),Ea=Symbol.
for("react.lazy"),Nu=Symbol.for("react.activity"),Su=Symbol.for("react.view_transition"),wa=Symbol.iterator;function Ou(e){
return e===null||typeof e!="object"?null:(e=wa&&e[wa]||e["@@iterator"],typeof e=="function"?e:null)}var Ra={isMounted:function(){
return!1},enqueueForceUpdate:function(){},enqueueReplaceState:function(){},enqueueSetState:function(){}},Ca=Object.assign,
Aa={};function Qn(e,n,t){this.props=e,this.context=n,this.refs=Aa,this.updater=t||Ra}Qn.prototype.isReactComponent={};Qn.
prototype.setState=function(e,n){if(typeof e!="object"&&typeof e!="function"&&e!=null)throw Error("takes an object of st\
ate variables to update or a function which returns an object of state variables.");this.updater.enqueueSetState(this,e,
n,"setState")};Qn.prototype.forceUpdate=function(e){this.updater.enqueueForceUpdate(this,e,"forceUpdate")};function Na(){}
Na.prototype=Qn.prototype;function ai(e,n,t){this.props=e,this.context=n,this.refs=Aa,this.updater=t||Ra}var li=ai.prototype=
new Na;li.constructor=ai;Ca(li,Qn.prototype);li.isPureReactComponent=!0;var Ta=Array.isArray;function ri(){}var k={H:null,
A:null,T:null,S:null},Sa=Object.prototype.hasOwnProperty;function oi(e,n,t){var r=t.ref;return{$$typeof:ii,type:e,key:n,
ref:r!==void 0?r:null,props:t}}function _u(e,n){return oi(e.type,n,e.props)}function ui(e){return typeof e=="object"&&e!==
null&&e.$$typeof===ii}function ku(e){var n={"=":"=0",":":"=2"};return"$"+e.replace(/[=:]/g,function(t){return n[t]})}var Pa=/\/+/g;
function ti(e,n){return typeof e=="object"&&e!==null&&e.key!=null?ku(""+e.key):n.toString(36)}function Mu(e){switch(e.status){case"\
fulfilled":return e.value;case"rejected":throw e.reason;default:switch(typeof e.status=="string"?e.then(ri,ri):(e.status=
"pending",e.then(function(n){e.status==="pending"&&(e.status="fulfilled",e.value=n)},function(n){e.status==="pending"&&(e.
status="rejected",e.reason=n)})),e.status){case"fulfilled":return e.value;case"rejected":throw e.reason}}throw e}function Vn(e,n,t,r,i){
var a=typeof e;(a==="undefined"||a==="boolean")&&(e=null);var u=!1;if(e===null)u=!0;else switch(a){case"bigint":case"str\
ing":case"number":u=!0;break;case"object":switch(e.$$typeof){case ii:case mu:u=!0;break;case Ea:return u=e._init,Vn(u(e.
_payload),n,t,r,i)}}if(u)return i=i(e),u=r===""?"."+ti(e,0):r,Ta(i)?(t="",u!=null&&(t=u.replace(Pa,"$&/")+"/"),Vn(i,n,t,
"",function(l){return l})):i!=null&&(ui(i)&&(i=_u(i,t+(i.key==null||e&&e.key===i.key?"":(""+i.key).replace(Pa,"$&/")+"/")+
u)),n.push(i)),1;u=0;var s=r===""?".":r+":";if(Ta(e))for(var c=0;c<e.length;c++)r=e[c],a=s+ti(r,c),u+=Vn(r,n,t,a,i);else if(c=
Ou(e),typeof c=="function")for(e=c.call(e),c=0;!(r=e.next()).done;)r=r.value,a=s+ti(r,c++),u+=Vn(r,n,t,a,i);else if(a===
"object"){if(typeof e.then=="function")return Vn(Mu(e),n,t,r,i);throw n=String(e),Error("Objects are not valid as a Reac\
t child (found: "+(n==="[object Object]"?"object with keys {"+Object.keys(e).join(", ")+"}":n)+"). If you meant to rende\
r a collection of children, use an array instead.")}return u}function tr(e,n,t){if(e==null)return e;var r=[],i=0;return Vn(
e,r,"","",function(a){return n.call(t,a,i++)}),r}function Iu(e){if(e._status===-1){var n=e._result,t=n();t.then(function(r){
(e._status===0||e._status===-1)&&(e._status=1,e._result=r,t.status===void 0&&(t.status="fulfilled",t.value=r))},function(r){
(e._status===0||e._status===-1)&&(e._status=2,e._result=r,t.status===void 0&&(t.status="rejected",t.reason=r))}),e._status===
-1&&(e._status=0,e._result=t)}if(e._status===1)return e._result.default;throw e._result}var xa=typeof reportError=="func\
tion"?reportError:function(e){if(typeof window=="object"&&typeof window.ErrorEvent=="function"){var n=new window.ErrorEvent(
"error",{bubbles:!0,cancelable:!0,message:typeof e=="object"&&e!==null&&typeof e.message=="string"?String(e.message):String(
e),error:e});if(!window.dispatchEvent(n))return}else if(typeof process=="object"&&typeof process.emit=="function"){process.
emit("uncaughtException",e);return}console.error(e)};function Oa(e){var n=k.T,t={};t.types=n!==null?n.types:null,k.T=t;try{
var r=e(),i=k.S;i!==null&&i(t,r),typeof r=="object"&&r!==null&&typeof r.then=="function"&&r.then(ri,xa)}catch(a){xa(a)}finally{
n!==null&&t.types!==null&&(n.types=t.types),k.T=n}}function _a(e){var n=k.T;if(n!==null){var t=n.types;t===null?n.types=
[e]:t.indexOf(e)===-1&&t.push(e)}else Oa(_a.bind(null,e))}var Fu={map:tr,forEach:function(e,n,t){tr(e,function(){n.apply(
this,arguments)},t)},count:function(e){var n=0;return tr(e,function(){n++}),n},toArray:function(e){return tr(e,function(n){
return n})||[]},only:function(e){if(!ui(e))throw Error("React.Children.only expected to receive a single React element c\
hild.");return e}};m.Activity=Nu;m.Children=Fu;m.Component=Qn;m.Fragment=wu;m.Profiler=Pu;m.PureComponent=ai;m.StrictMode=
Tu;m.Suspense=Cu;m.ViewTransition=Su;m.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE=k;m.__COMPILER_RUNTIME=
{__proto__:null,c:function(e){return k.H.useMemoCache(e)}};m.addTransitionType=_a;m.cache=function(e){return function(){
return e.apply(null,arguments)}};m.cacheSignal=function(){return null};m.cloneElement=function(e,n,t){if(e==null)throw Error(
"The argument must be a React element, but you passed "+e+".");var r=Ca({},e.props),i=e.key;if(n!=null)for(a in n.key!==
void 0&&(i=""+n.key),n)!Sa.call(n,a)||a==="key"||a==="__self"||a==="__source"||a==="ref"&&n.ref===void 0||(r[a]=n[a]);var a=arguments.
length-2;if(a===1)r.children=t;else if(1<a){for(var u=Array(a),s=0;s<a;s++)u[s]=arguments[s+2];r.children=u}return oi(e.
type,i,r)};m.createContext=function(e){return e={$$typeof:Eu,_currentValue:e,_currentValue2:e,_threadCount:0,Provider:null,
Consumer:null},e.Provider=e,e.Consumer={$$typeof:xu,_context:e},e};m.createElement=function(e,n,t){var r,i={},a=null;if(n!=
null)for(r in n.key!==void 0&&(a=""+n.key),n)Sa.call(n,r)&&r!=="key"&&r!=="__self"&&r!=="__source"&&(i[r]=n[r]);var u=arguments.
length-2;if(u===1)i.children=t;else if(1<u){for(var s=Array(u),c=0;c<u;c++)s[c]=arguments[c+2];i.children=s}if(e&&e.defaultProps)
for(r in u=e.defaultProps,u)i[r]===void 0&&(i[r]=u[r]);return oi(e,a,i)};m.createRef=function(){return{current:null}};m.
forwardRef=function(e){return{$$typeof:Ru,render:e}};m.isValidElement=ui;m.lazy=function(e){return{$$typeof:Ea,_payload:{
_status:-1,_result:e},_init:Iu}};m.memo=function(e,n){return{$$typeof:Au,type:e,compare:n===void 0?null:n}};m.startTransition=
Oa;m.unstable_useCacheRefresh=function(){return k.H.useCacheRefresh()};m.use=function(e){return k.H.use(e)};m.useActionState=
function(e,n,t){return k.H.useActionState(e,n,t)};m.useCallback=function(e,n){return k.H.useCallback(e,n)};m.useContext=
function(e){return k.H.useContext(e)};m.useDebugValue=function(){};m.useDeferredValue=function(e,n){return k.H.useDeferredValue(
e,n)};m.useEffect=function(e,n){return k.H.useEffect(e,n)};m.useEffectEvent=function(e){return k.H.useEffectEvent(e)};m.
useId=function(){return k.H.useId()};m.useImperativeHandle=function(e,n,t){return k.H.useImperativeHandle(e,n,t)};m.useInsertionEffect=
function(e,n){return k.H.useInsertionEffect(e,n)};m.useLayoutEffect=function(e,n){return k.H.useLayoutEffect(e,n)};m.useMemo=
function(e,n){return k.H.useMemo(e,n)};m.useOptimistic=function(e,n){return k.H.useOptimistic(e,n)};m.useReducer=function(e,n,t){
return k.H.useReducer(e,n,t)};m.useRef=function(e){return k.H.useRef(e)};m.useState=function(e){return k.H.useState(e)};
m.useSyncExternalStore=function(e,n,t){return k.H.useSyncExternalStore(e,n,t)};m.useTransition=function(){return k.H.useTransition()};
m.version="19.3.1"});var he=Pn((ds,Ma)=>{"use strict";Ma.exports=ka()});var La=Pn(re=>{"use strict";var Lu=he();function Fa(e){var n="https://react.dev/errors/"+e;if(1<arguments.length){n+="?a\
rgs[]="+encodeURIComponent(arguments[1]);for(var t=2;t<arguments.length;t++)n+="&args[]="+encodeURIComponent(arguments[t])}
return"Minified React error #"+e+"; visit "+n+" for the full message or use the non-minified dev environment for full er\
rors and additional helpful warnings."}function nn(){}var ce={d:{f:nn,r:function(){throw Error(Fa(522))},D:nn,C:nn,L:nn,
m:nn,X:nn,S:nn,M:nn},p:0,findDOMNode:null},Uu=Symbol.for("react.portal"),Hu=Symbol.for("react.recoverable"),Ia=Symbol.for(
"react.optimistic_key");function Du(e,n,t){var r=3<arguments.length&&arguments[3]!==void 0?arguments[3]:null;return{$$typeof:Uu,
key:r==null?null:r===Ia?Ia:""+r,children:e,containerInfo:n,implementation:t}}var yt=Lu.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE;
function rr(e,n){if(e==="font")return"";if(typeof n=="string")return n==="use-credentials"?n:""}re.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE=
ce;re.browser=function(e){return{$$typeof:Hu,_reason:e}};re.createPortal=function(e,n){var t=2<arguments.length&&arguments[2]!==
void 0?arguments[2]:null;if(!n||n.nodeType!==1&&n.nodeType!==9&&n.nodeType!==11)throw Error(Fa(299));return Du(e,n,null,
t)};re.flushSync=function(e){var n=yt.T,t=ce.p;try{if(yt.T=null,ce.p=2,e)return e()}finally{yt.T=n,ce.p=t,ce.d.f()}};re.
preconnect=function(e,n){typeof e=="string"&&(n?(n=n.crossOrigin,n=typeof n=="string"?n==="use-credentials"?n:"":void 0):
n=null,ce.d.C(e,n))};re.prefetchDNS=function(e){typeof e=="string"&&ce.d.D(e)};re.preinit=function(e,n){if(typeof e=="st\
ring"&&n&&typeof n.as=="string"){var t=n.as,r=rr(t,n.crossOrigin),i=typeof n.integrity=="string"?n.integrity:void 0,a=typeof n.
fetchPriority=="string"?n.fetchPriority:void 0;t==="style"?ce.d.S(e,typeof n.precedence=="string"?n.precedence:void 0,{crossOrigin:r,
integrity:i,fetchPriority:a}):t==="script"&&ce.d.X(e,{crossOrigin:r,integrity:i,fetchPriority:a,nonce:typeof n.nonce=="s\
tring"?n.nonce:void 0})}};re.preinitModule=function(e,n){if(typeof e=="string")if(typeof n=="object"&&n!==null){if(n.as==
null||n.as==="script"){var t=rr(n.as,n.crossOrigin);ce.d.M(e,{crossOrigin:t,integrity:typeof n.integrity=="string"?n.integrity:
void 0,nonce:typeof n.nonce=="string"?n.nonce:void 0,fetchPriority:typeof n.fetchPriority=="string"?n.fetchPriority:void 0})}}else
n==null&&ce.d.M(e)};re.preload=function(e,n){if(typeof e=="string"&&typeof n=="object"&&n!==null&&typeof n.as=="string"){
var t=n.as,r=rr(t,n.crossOrigin);ce.d.L(e,t,{crossOrigin:r,integrity:typeof n.integrity=="string"?n.integrity:void 0,nonce:typeof n.
nonce=="string"?n.nonce:void 0,type:typeof n.type=="string"?n.type:void 0,fetchPriority:typeof n.fetchPriority=="string"?
n.fetchPriority:void 0,referrerPolicy:typeof n.referrerPolicy=="string"?n.referrerPolicy:void 0,imageSrcSet:typeof n.imageSrcSet==
"string"?n.imageSrcSet:void 0,imageSizes:typeof n.imageSizes=="string"?n.imageSizes:void 0,media:typeof n.media=="string"?
n.media:void 0})}};re.preloadModule=function(e,n){if(typeof e=="string")if(n){var t=rr(n.as,n.crossOrigin);ce.d.m(e,{as:typeof n.
as=="string"&&n.as!=="script"?n.as:void 0,crossOrigin:t,integrity:typeof n.integrity=="string"?n.integrity:void 0,nonce:typeof n.
nonce=="string"?n.nonce:void 0,fetchPriority:typeof n.fetchPriority=="string"?n.fetchPriority:void 0})}else ce.d.m(e)};re.
requestFormReset=function(e){ce.d.r(e)};re.unstable_batchedUpdates=function(e,n){return e(n)};re.useFormState=function(e,n,t){
return yt.H.useFormState(e,n,t)};re.useFormStatus=function(){return yt.H.useHostTransitionStatus()};re.version="19.3.1"});var Da=Pn((gs,Ha)=>{"use strict";function Ua(){if(!(typeof __REACT_DEVTOOLS_GLOBAL_HOOK__>"u"||typeof __REACT_DEVTOOLS_GLOBAL_HOOK__.
checkDCE!="function"))try{__REACT_DEVTOOLS_GLOBAL_HOOK__.checkDCE(Ua)}catch(e){console.error(e)}}Ua(),Ha.exports=La()});var ql=Pn(Ur=>{"use strict";var vl=he(),Yu=Da();function p(e){var n="https://react.dev/errors/"+e;if(1<arguments.length){
n+="?args[]="+encodeURIComponent(arguments[1]);for(var t=2;t<arguments.length;t++)n+="&args[]="+encodeURIComponent(arguments[t])}
return"Minified React error #"+e+"; visit "+n+" for the full message or use the non-minified dev environment for full er\
rors and additional helpful warnings."}var yl=Symbol.for("react.transitional.element"),bl=Symbol.for("react.portal"),ml=Symbol.
for("react.fragment"),wl=Symbol.for("react.strict_mode"),Tl=Symbol.for("react.profiler"),Pl=Symbol.for("react.consumer"),
Nr=Symbol.for("react.context"),Ri=Symbol.for("react.forward_ref"),Sr=Symbol.for("react.suspense"),Ci=Symbol.for("react.s\
uspense_list"),Ai=Symbol.for("react.memo"),Or=Symbol.for("react.lazy"),Bu=Symbol.for("react.scope"),xl=Symbol.for("react\
.activity"),zu=Symbol.for("react.legacy_hidden"),Wu=Symbol.for("react.memo_cache_sentinel"),Ni=Symbol.for("react.view_tr\
ansition"),_r=Symbol.for("react.recoverable"),Ya=Symbol.iterator;function El(e){return e===null||typeof e!="object"?null:
(e=Ya&&e[Ya]||e["@@iterator"],typeof e=="function"?e:null)}var Gu=Symbol.for("react.optimistic_key"),gr=Array.isArray;function Ba(e,n){
var t=e.length&3,r=e.length-t,i=n;for(n=0;n<r;){var a=e.charCodeAt(n)&255|(e.charCodeAt(++n)&255)<<8|(e.charCodeAt(++n)&
255)<<16|(e.charCodeAt(++n)&255)<<24;++n,a=3432918353*(a&65535)+((3432918353*(a>>>16)&65535)<<16)&4294967295,a=a<<15|a>>>
17,a=461845907*(a&65535)+((461845907*(a>>>16)&65535)<<16)&4294967295,i^=a,i=i<<13|i>>>19,i=5*(i&65535)+((5*(i>>>16)&65535)<<
16)&4294967295,i=(i&65535)+27492+(((i>>>16)+58964&65535)<<16)}switch(a=0,t){case 3:a^=(e.charCodeAt(n+2)&255)<<16;case 2:
a^=(e.charCodeAt(n+1)&255)<<8;case 1:a^=e.charCodeAt(n)&255,a=3432918353*(a&65535)+((3432918353*(a>>>16)&65535)<<16)&4294967295,
a=a<<15|a>>>17,i^=461845907*(a&65535)+((461845907*(a>>>16)&65535)<<16)&4294967295}return i^=e.length,i^=i>>>16,i=2246822507*
(i&65535)+((2246822507*(i>>>16)&65535)<<16)&4294967295,i^=i>>>13,i=3266489909*(i&65535)+((3266489909*(i>>>16)&65535)<<16)&
4294967295,(i^i>>>16)>>>0}var pe=Object.assign,L=Object.prototype.hasOwnProperty,Xu=RegExp("^[:A-Z_a-z\\u00C0-\\u00D6\\u00D\
8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\\
uFFFD][:A-Z_a-z\\u00C0-\\u00D6\\u00D8-\\u00F6\\u00F8-\\u02FF\\u0370-\\u037D\\u037F-\\u1FFF\\u200C-\\u200D\\u2070-\\u218F\\u2C00-\\u2FEF\\\
u3001-\\uD7FF\\uF900-\\uFDCF\\uFDF0-\\uFFFD\\-.0-9\\u00B7\\u0300-\\u036F\\u203F-\\u2040]*$"),za={},Wa={};function Si(e){
return L.call(Wa,e)?!0:L.call(za,e)?!1:Xu.test(e)?Wa[e]=!0:(za[e]=!0,!1)}var Zu=new Set("animationIterationCount aspectR\
atio borderImageOutset borderImageSlice borderImageWidth boxFlex boxFlexGroup boxOrdinalGroup columnCount columns flex f\
lexGrow flexPositive flexShrink flexNegative flexOrder gridArea gridRow gridRowEnd gridRowSpan gridRowStart gridColumn g\
ridColumnEnd gridColumnSpan gridColumnStart fontWeight lineClamp lineHeight opacity order orphans scale tabSize widows z\
Index zoom fillOpacity floodOpacity stopOpacity strokeDasharray strokeDashoffset strokeMiterlimit strokeOpacity strokeWi\
dth MozAnimationIterationCount MozBoxFlex MozBoxFlexGroup MozLineClamp msAnimationIterationCount msFlex msZoom msFlexGro\
w msFlexNegative msFlexOrder msFlexPositive msFlexShrink msGridColumn msGridColumnSpan msGridRow msGridRowSpan WebkitAni\
mationIterationCount WebkitBoxFlex WebKitBoxFlexGroup WebkitBoxOrdinalGroup WebkitColumnCount WebkitColumns WebkitFlex W\
ebkitFlexGrow WebkitFlexPositive WebkitFlexShrink WebkitLineClamp".split(" ")),Vu=new Map([["acceptCharset","accept-char\
set"],["htmlFor","for"],["httpEquiv","http-equiv"],["crossOrigin","crossorigin"],["accentHeight","accent-height"],["alig\
nmentBaseline","alignment-baseline"],["arabicForm","arabic-form"],["baselineShift","baseline-shift"],["capHeight","cap-h\
eight"],["clipPath","clip-path"],["clipRule","clip-rule"],["colorInterpolation","color-interpolation"],["colorInterpolat\
ionFilters","color-interpolation-filters"],["colorProfile","color-profile"],["colorRendering","color-rendering"],["domin\
antBaseline","dominant-baseline"],["enableBackground","enable-background"],["fillOpacity","fill-opacity"],["fillRule","f\
ill-rule"],["floodColor","flood-color"],["floodOpacity","flood-opacity"],["fontFamily","font-family"],["fontSize","font-\
size"],["fontSizeAdjust","font-size-adjust"],["fontStretch","font-stretch"],["fontStyle","font-style"],["fontVariant","f\
ont-variant"],["fontWeight","font-weight"],["glyphName","glyph-name"],["glyphOrientationHorizontal","glyph-orientation-h\
orizontal"],["glyphOrientationVertical","glyph-orientation-vertical"],["horizAdvX","horiz-adv-x"],["horizOriginX","horiz\
-origin-x"],["imageRendering","image-rendering"],["letterSpacing","letter-spacing"],["lightingColor","lighting-color"],[
"markerEnd","marker-end"],["markerMid","marker-mid"],["markerStart","marker-start"],["maskType","mask-type"],["overlineP\
osition","overline-position"],["overlineThickness","overline-thickness"],["paintOrder","paint-order"],["panose-1","panos\
e-1"],["pointerEvents","pointer-events"],["renderingIntent","rendering-intent"],["shapeRendering","shape-rendering"],["s\
topColor","stop-color"],["stopOpacity","stop-opacity"],["strikethroughPosition","strikethrough-position"],["strikethroug\
hThickness","strikethrough-thickness"],["strokeDasharray","stroke-dasharray"],["strokeDashoffset","stroke-dashoffset"],[
"strokeLinecap","stroke-linecap"],["strokeLinejoin","stroke-linejoin"],["strokeMiterlimit","stroke-miterlimit"],["stroke\
Opacity","stroke-opacity"],["strokeWidth","stroke-width"],["textAnchor","text-anchor"],["textDecoration","text-decoratio\
n"],["textRendering","text-rendering"],["transformOrigin","transform-origin"],["underlinePosition","underline-position"],
["underlineThickness","underline-thickness"],["unicodeBidi","unicode-bidi"],["unicodeRange","unicode-range"],["unitsPerE\
m","units-per-em"],["vAlphabetic","v-alphabetic"],["vHanging","v-hanging"],["vIdeographic","v-ideographic"],["vMathemati\
cal","v-mathematical"],["vectorEffect","vector-effect"],["vertAdvY","vert-adv-y"],["vertOriginX","vert-origin-x"],["vert\
OriginY","vert-origin-y"],["wordSpacing","word-spacing"],["writingMode","writing-mode"],["xmlnsXlink","xmlns:xlink"],["x\
Height","x-height"]]),Qu=/["'&<>]/;function x(e){if(typeof e=="boolean"||typeof e=="number"||typeof e=="bigint")return""+
e;e=""+e;var n=Qu.exec(e);if(n){var t="",r,i=0;for(r=n.index;r<e.length;r++){switch(e.charCodeAt(r)){case 34:n="&quot;";
break;case 38:n="&amp;";break;case 39:n="&#x27;";break;case 60:n="&lt;";break;case 62:n="&gt;";break;default:continue}i!==
r&&(t+=e.slice(i,r)),i=r+1,t+=n}e=i!==r?t+e.slice(i,r):t}return e}var Ju=/([A-Z])/g,Ku=/^ms-/,ju=/^[\u0000-\u001F ]*j[\r\n\t]*a[\r\n\t]*v[\r\n\t]*a[\r\n\t]*s[\r\n\t]*c[\r\n\t]*r[\r\n\t]*i[\r\n\t]*p[\r\n\t]*t[\r\n\t]*:/i;
function Pt(e){return ju.test(""+e)?"javascript:throw new Error('React has blocked a javascript: URL as a security preca\
ution.')":e}var Jn=vl.__CLIENT_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE,Rl=Yu.__DOM_INTERNALS_DO_NOT_USE_OR_WARN_USERS_THEY_CANNOT_UPGRADE,
qu={pending:!1,data:null,method:null,action:null},Be=Rl.d;Rl.d={f:Be.f,r:Be.r,D:vc,C:yc,L:bc,m:mc,X:Tc,S:wc,M:Pc};var xe=[],
qn=null,Cl=/(<\/|<)(s)(cript)/gi;function Al(e,n,t,r){return""+n+(t==="s"?"\\u0073":"\\u0053")+r}function $u(e,n,t,r,i){
return{idPrefix:e===void 0?"":e,nextFormID:0,streamingFormat:0,bootstrapScriptContent:t,bootstrapScripts:r,bootstrapModules:i,
instructions:0,hasBody:!1,hasHtml:!1,unknownResources:{},dnsResources:{},connectResources:{default:{},anonymous:{},credentials:{}},
imageResources:{},styleResources:{},scriptResources:{},moduleUnknownResources:{},moduleScriptResources:{}}}function $(e,n,t,r){
return{insertionMode:e,selectedValue:n,tagScope:t,viewTransition:r}}function Ga(e,n,t){var r=e.tagScope&-25;switch(n){case"\
noscript":return $(2,null,r|1,null);case"select":return $(2,t.value!=null?t.value:t.defaultValue,r,null);case"svg":return $(
4,null,r,null);case"picture":return $(2,null,r|2,null);case"math":return $(5,null,r,null);case"foreignObject":return $(2,
null,r,null);case"table":return $(6,null,r,null);case"thead":case"tbody":case"tfoot":return $(7,null,r,null);case"colgro\
up":return $(9,null,r,null);case"tr":return $(8,null,r,null);case"head":if(2>e.insertionMode)return $(3,null,r,null);break;case"\
html":if(e.insertionMode===0)return $(1,null,r,null)}return 6<=e.insertionMode||2>e.insertionMode?$(2,null,r,null):e.viewTransition!==
null||e.tagScope!==r?$(e.insertionMode,e.selectedValue,r,null):e}function Nl(e){return e===null?null:{update:e.update,enter:"\
none",exit:"none",share:e.update,parentEnter:"none",parentExit:"none",name:e.autoName,autoName:e.autoName,nameIdx:0}}function pi(e,n){
return n.tagScope&32&&(e.instructions|=128),$(n.insertionMode,n.selectedValue,n.tagScope|12,Nl(n.viewTransition))}function or(e,n){
e=Nl(n.viewTransition);var t=n.tagScope|16;return e!==null&&e.share!=="none"&&(t|=64),$(n.insertionMode,n.selectedValue,
t,e)}function Sl(e,n,t){return e="_"+e.idPrefix+"R_"+n,0<t&&(e+="H"+t.toString(32)),e+"_"}function be(e,n){n=n.viewTransition,
n!==null&&(n.name!=="auto"&&(z(e,"vt-name",n.nameIdx===0?n.name:n.name+"_"+n.nameIdx),n.nameIdx++),z(e,"vt-update",n.update),
n.enter!=="none"&&z(e,"vt-enter",n.enter),n.exit!=="none"&&z(e,"vt-exit",n.exit),n.share!=="none"&&z(e,"vt-share",n.share))}
var Xa=new Map;function Ol(e,n){if(typeof n!="object")throw Error(p(62));var t=!0,r;for(r in n)if(L.call(n,r)){var i=n[r];
if(i!=null&&typeof i!="boolean"&&i!==""){if(r.indexOf("--")===0){var a=x(r);i=x((""+i).trim())}else a=Xa.get(r),a===void 0&&
(a=x(r.replace(Ju,"-$1").toLowerCase().replace(Ku,"-ms-")),Xa.set(r,a)),i=typeof i=="number"?i===0||Zu.has(r)?""+i:i+"px":
x((""+i).trim());t?(t=!1,e.push(' style="',a,":",i)):e.push(";",a,":",i)}}t||e.push('"')}function vi(e,n,t){t&&typeof t!=
"function"&&typeof t!="symbol"&&e.push(" ",n,'=""')}function z(e,n,t){typeof t!="function"&&typeof t!="symbol"&&typeof t!=
"boolean"&&e.push(" ",n,'="',x(t),'"')}var _l=x("javascript:throw new Error('React form unexpectedly submitted.')");function ci(e,n){
this.push('<input type="hidden"'),kl(e),z(this,"name",n),z(this,"value",e),this.push("/>")}function kl(e){if(typeof e!="\
string")throw Error(p(480))}function Ml(e,n){if(typeof n.$$FORM_ACTION=="function"){var t=e.nextFormID++;e=e.idPrefix+t;
try{var r=n.$$FORM_ACTION(e);if(r){var i=r.data;i?.forEach(kl)}return r}catch(a){if(typeof a=="object"&&a!==null&&typeof a.
then=="function")throw a}}return null}function Za(e,n,t,r,i,a,u,s){var c=null;if(typeof r=="function"){var l=Ml(n,r);l!==
null?(s=l.name,r=l.action||"",i=l.encType,a=l.method,u=l.target,c=l.data):(e.push(" ","formAction",'="',_l,'"'),u=a=i=r=
s=null,Il(n,t))}return s!=null&&O(e,"name",s),r!=null&&O(e,"formAction",r),i!=null&&O(e,"formEncType",i),a!=null&&O(e,"f\
ormMethod",a),u!=null&&O(e,"formTarget",u),c}function O(e,n,t){switch(n){case"className":z(e,"class",t);break;case"tabIn\
dex":z(e,"tabindex",t);break;case"dir":case"role":case"viewBox":case"width":case"height":z(e,n,t);break;case"style":Ol(e,
t);break;case"src":case"href":if(t==="")break;case"action":case"formAction":if(t==null||typeof t=="function"||typeof t==
"symbol"||typeof t=="boolean")break;t=Pt(""+t),e.push(" ",n,'="',x(t),'"');break;case"defaultValue":case"defaultChecked":case"\
innerHTML":case"suppressContentEditableWarning":case"suppressHydrationWarning":case"ref":break;case"autoFocus":case"mult\
iple":case"muted":vi(e,n.toLowerCase(),t);break;case"xlinkHref":if(typeof t=="function"||typeof t=="symbol"||typeof t=="\
boolean")break;t=Pt(""+t),e.push(" ","xlink:href",'="',x(t),'"');break;case"contentEditable":case"spellCheck":case"dragg\
able":case"value":case"autoReverse":case"externalResourcesRequired":case"focusable":case"preserveAlpha":typeof t!="funct\
ion"&&typeof t!="symbol"&&e.push(" ",n,'="',x(t),'"');break;case"inert":case"allowFullScreen":case"async":case"autoPlay":case"\
controls":case"credentialless":case"default":case"defer":case"disabled":case"disablePictureInPicture":case"disableRemote\
Playback":case"formNoValidate":case"hidden":case"loop":case"noModule":case"noValidate":case"open":case"playsInline":case"\
readOnly":case"required":case"reversed":case"scoped":case"seamless":case"itemScope":t&&typeof t!="function"&&typeof t!="\
symbol"&&e.push(" ",n,'=""');break;case"capture":case"download":t===!0?e.push(" ",n,'=""'):t!==!1&&typeof t!="function"&&
typeof t!="symbol"&&e.push(" ",n,'="',x(t),'"');break;case"cols":case"rows":case"size":case"span":typeof t!="function"&&
typeof t!="symbol"&&!isNaN(t)&&1<=t&&e.push(" ",n,'="',x(t),'"');break;case"rowSpan":case"start":typeof t=="function"||typeof t==
"symbol"||isNaN(t)||e.push(" ",n,'="',x(t),'"');break;case"xlinkActuate":z(e,"xlink:actuate",t);break;case"xlinkArcrole":
z(e,"xlink:arcrole",t);break;case"xlinkRole":z(e,"xlink:role",t);break;case"xlinkShow":z(e,"xlink:show",t);break;case"xl\
inkTitle":z(e,"xlink:title",t);break;case"xlinkType":z(e,"xlink:type",t);break;case"xmlBase":z(e,"xml:base",t);break;case"\
xmlLang":z(e,"xml:lang",t);break;case"xmlSpace":z(e,"xml:space",t);break;default:if((!(2<n.length)||n[0]!=="o"&&n[0]!=="\
O"||n[1]!=="n"&&n[1]!=="N")&&(n=Vu.get(n)||n,Si(n))){switch(typeof t){case"function":case"symbol":return;case"boolean":var r=n.
toLowerCase().slice(0,5);if(r!=="data-"&&r!=="aria-")return}e.push(" ",n,'="',x(t),'"')}}}function me(e,n,t){if(n!=null){
if(t!=null)throw Error(p(60));if(typeof n!="object"||!("__html"in n))throw Error(p(61));n=n.__html,n!=null&&e.push(""+n)}}
function ec(e){var n="";return vl.Children.forEach(e,function(t){t!=null&&(n+=t)}),n}function Il(e,n){if((e.instructions&
16)===0){e.instructions|=16;var t=n.preamble,r=n.bootstrapChunks;(t.htmlChunks||t.headChunks)&&r.length===0?(r.push(n.startInlineScript),
ur(r,e),r.push(">",`addEventListener("submit",function(a){if(!a.defaultPrevented){var b=a.target,d=a.submitter,c=b.actio\
n,e=d;if(d){var f=d.getAttribute("formAction");null!=f&&(c=f,e=null)}"javascript:throw new Error('React form unexpectedl\
y submitted.')"===c&&(a.preventDefault(),a=new FormData(b,e),c=b.ownerDocument||b,(c.$$reactFormReplay=c.$$reactFormRepl\
ay||[]).push(b,d,a))}});`,"</script>")):r.unshift(n.startInlineScript,">",`addEventListener("submit",function(a){if(!a.d\
efaultPrevented){var b=a.target,d=a.submitter,c=b.action,e=d;if(d){var f=d.getAttribute("formAction");null!=f&&(c=f,e=nu\
ll)}"javascript:throw new Error('React form unexpectedly submitted.')"===c&&(a.preventDefault(),a=new FormData(b,e),c=b.\
ownerDocument||b,(c.$$reactFormReplay=c.$$reactFormReplay||[]).push(b,d,a))}});`,"</script>")}}function ie(e,n){e.push(X(
"link"));for(var t in n)if(L.call(n,t)){var r=n[t];if(r!=null)switch(t){case"children":case"dangerouslySetInnerHTML":throw Error(
p(399,"link"));default:O(e,t,r)}}return e.push("/>"),null}var Va=/(<\/|<)(s)(tyle)/gi;function Qa(e,n,t,r){return""+n+(t===
"s"?"\\73 ":"\\53 ")+r}function Kn(e,n,t,r){e.push(X(t));for(var i in n)if(L.call(n,i)){var a=n[i];if(a!=null)switch(i){case"\
children":case"dangerouslySetInnerHTML":throw Error(p(399,t));default:O(e,i,a)}}return be(e,r),e.push("/>"),null}function Ja(e,n){
e.push(X("title"));var t=null,r=null,i;for(i in n)if(L.call(n,i)){var a=n[i];if(a!=null)switch(i){case"children":t=a;break;case"\
dangerouslySetInnerHTML":r=a;break;default:O(e,i,a)}}return e.push(">"),n=Array.isArray(t)?2>t.length?t[0]:null:t,typeof n!=
"function"&&typeof n!="symbol"&&n!==null&&n!==void 0&&e.push(x(""+n)),me(e,r,t),e.push(Rn("title")),null}function pr(e,n){
e.push(X("script"));var t=null,r=null,i;for(i in n)if(L.call(n,i)){var a=n[i];if(a!=null)switch(i){case"children":t=a;break;case"\
dangerouslySetInnerHTML":r=a;break;default:O(e,i,a)}}return e.push(">"),me(e,r,t),typeof t=="string"&&e.push((""+t).replace(
Cl,Al)),e.push(Rn("script")),null}function si(e,n,t,r){e.push(X(t));var i=t=null,a;for(a in n)if(L.call(n,a)){var u=n[a];
if(u!=null)switch(a){case"children":t=u;break;case"dangerouslySetInnerHTML":i=u;break;default:O(e,a,u)}}return be(e,r),e.
push(">"),me(e,i,t),t}function ir(e,n,t,r){e.push(X(t));var i=t=null,a;for(a in n)if(L.call(n,a)){var u=n[a];if(u!=null)
switch(a){case"children":t=u;break;case"dangerouslySetInnerHTML":i=u;break;default:O(e,a,u)}}return be(e,r),e.push(">"),
me(e,i,t),typeof t=="string"?(e.push(x(t)),null):t}var nc=/^[a-zA-Z][a-zA-Z:_\.\-\d]*$/,Ka=new Map;function X(e){var n=Ka.
get(e);if(n===void 0){if(!nc.test(e))throw Error(p(65,e));n="<"+e,Ka.set(e,n)}return n}function tc(e,n,t,r,i,a,u,s,c){switch(n){case"\
div":case"span":case"svg":case"path":break;case"a":e.push(X("a"));var l=null,o=null,f;for(f in t)if(L.call(t,f)){var d=t[f];
if(d!=null)switch(f){case"children":l=d;break;case"dangerouslySetInnerHTML":o=d;break;case"href":d===""?z(e,"href",""):O(
e,f,d);break;default:O(e,f,d)}}if(be(e,s),e.push(">"),me(e,o,l),typeof l=="string"){e.push(x(l));var h=null}else h=l;return h;case"\
g":case"p":case"li":break;case"select":e.push(X("select"));var g=null,y=null,C;for(C in t)if(L.call(t,C)){var T=t[C];if(T!=
null)switch(C){case"children":g=T;break;case"dangerouslySetInnerHTML":y=T;break;case"defaultValue":case"value":break;default:
O(e,C,T)}}return be(e,s),e.push(">"),me(e,y,g),g;case"option":var S=s.selectedValue;e.push(X("option"));var D=null,H=null,
P=null,N=null,I;for(I in t)if(L.call(t,I)){var ve=t[I];if(ve!=null)switch(I){case"children":D=ve;break;case"selected":P=
ve;break;case"dangerouslySetInnerHTML":N=ve;break;case"value":H=ve;default:O(e,I,ve)}}if(S!=null){var R=H!==null?""+H:ec(
D);if(gr(S)){for(var Y=0;Y<S.length;Y++)if(""+S[Y]===R){e.push(' selected=""');break}}else""+S===R&&e.push(' selected=""')}else
P&&e.push(' selected=""');return e.push(">"),me(e,N,D),D;case"textarea":e.push(X("textarea"));var B=null,Q=null,F=null,de;
for(de in t)if(L.call(t,de)){var W=t[de];if(W!=null)switch(de){case"children":F=W;break;case"value":B=W;break;case"defau\
ltValue":Q=W;break;case"dangerouslySetInnerHTML":throw Error(p(91));default:O(e,de,W)}}if(B===null&&Q!==null&&(B=Q),be(e,
s),e.push(">"),F!=null){if(B!=null)throw Error(p(92));if(gr(F)){if(1<F.length)throw Error(p(93));B=""+F[0]}B=""+F}return typeof B==
"string"&&B[0]===`
`&&e.push(`
`),B!==null&&e.push(x(""+B)),null;case"input":e.push(X("input"));var Xe=null,ye=null,G=null,cn=null,K=null,_e=null,j=null,
Te=null,Ee=null,ke;for(ke in t)if(L.call(t,ke)){var U=t[ke];if(U!=null)switch(ke){case"children":case"dangerouslySetInne\
rHTML":throw Error(p(399,"input"));case"name":Xe=U;break;case"formAction":ye=U;break;case"formEncType":G=U;break;case"fo\
rmMethod":cn=U;break;case"formTarget":K=U;break;case"defaultChecked":Ee=U;break;case"defaultValue":j=U;break;case"checke\
d":Te=U;break;case"value":_e=U;break;default:O(e,ke,U)}}var Ue=Za(e,r,i,ye,G,cn,K,Xe);return Te!==null?vi(e,"checked",Te):
Ee!==null&&vi(e,"checked",Ee),_e!==null?O(e,"value",_e):j!==null&&O(e,"value",j),be(e,s),e.push("/>"),Ue?.forEach(ci,e),
null;case"button":e.push(X("button"));var sn=null,Me=null,Ze=null,it=null,In=null,Fn=null,Wt=null,Ie;for(Ie in t)if(L.call(
t,Ie)){var ne=t[Ie];if(ne!=null)switch(Ie){case"children":sn=ne;break;case"dangerouslySetInnerHTML":Me=ne;break;case"nam\
e":Ze=ne;break;case"formAction":it=ne;break;case"formEncType":In=ne;break;case"formMethod":Fn=ne;break;case"formTarget":
Wt=ne;break;default:O(e,Ie,ne)}}var Gt=Za(e,r,i,it,In,Fn,Wt,Ze);if(be(e,s),e.push(">"),Gt?.forEach(ci,e),me(e,Me,sn),typeof sn==
"string"){e.push(x(sn));var at=null}else at=sn;return at;case"form":e.push(X("form"));var fn=null,Xt=null,He=null,Ve=null,
dn=null,Qe=null,hn;for(hn in t)if(L.call(t,hn)){var Fe=t[hn];if(Fe!=null)switch(hn){case"children":fn=Fe;break;case"dang\
erouslySetInnerHTML":Xt=Fe;break;case"action":He=Fe;break;case"encType":Ve=Fe;break;case"method":dn=Fe;break;case"target":
Qe=Fe;break;default:O(e,hn,Fe)}}var Ln=null,Je=null;if(typeof He=="function"){var ue=Ml(r,He);ue!==null?(He=ue.action||"",
Ve=ue.encType,dn=ue.method,Qe=ue.target,Ln=ue.data,Je=ue.name):(e.push(" ","action",'="',_l,'"'),Qe=dn=Ve=He=null,Il(r,i))}
if(He!=null&&O(e,"action",He),Ve!=null&&O(e,"encType",Ve),dn!=null&&O(e,"method",dn),Qe!=null&&O(e,"target",Qe),be(e,s),
e.push(">"),Je!==null&&(e.push('<input type="hidden"'),z(e,"name",Je),e.push("/>"),Ln?.forEach(ci,e)),me(e,Xt,fn),typeof fn==
"string"){e.push(x(fn));var lt=null}else lt=fn;return lt;case"menuitem":e.push(X("menuitem"));for(var gn in t)if(L.call(
t,gn)){var Zt=t[gn];if(Zt!=null)switch(gn){case"children":case"dangerouslySetInnerHTML":throw Error(p(400));default:O(e,
gn,Zt)}}return be(e,s),e.push(">"),null;case"object":e.push(X("object"));var Re=null,ot=null,Ke;for(Ke in t)if(L.call(t,
Ke)){var je=t[Ke];if(je!=null)switch(Ke){case"children":Re=je;break;case"dangerouslySetInnerHTML":ot=je;break;case"data":
var _=Pt(""+je);if(_==="")break;e.push(" ","data",'="',x(_),'"');break;default:O(e,Ke,je)}}if(be(e,s),e.push(">"),me(e,ot,
Re),typeof Re=="string"){e.push(x(Re));var Ce=null}else Ce=Re;return Ce;case"title":var Pe=s.tagScope&1,ut=s.tagScope&4;
if(s.insertionMode===4||Pe||t.itemProp!=null)var Un=Ja(e,t);else ut?Un=null:(Ja(i.hoistableChunks,t),Un=void 0);return Un;case"\
link":var Hn=s.tagScope&1,Vt=s.tagScope&4,Qt=t.rel,Ae=t.href,Dn=t.precedence;if(s.insertionMode===4||Hn||t.itemProp!=null||
typeof Qt!="string"||typeof Ae!="string"||Ae===""){ie(e,t);var pn=null}else if(t.rel==="stylesheet")if(typeof Dn!="strin\
g"||t.disabled!=null||t.onLoad||t.onError)pn=ie(e,t);else{var De=i.styles.get(Dn),qe=r.styleResources.hasOwnProperty(Ae)?
r.styleResources[Ae]:void 0;if(qe!==null){r.styleResources[Ae]=null,De||(De={precedence:x(Dn),rules:[],hrefs:[],sheets:new Map},
i.styles.set(Dn,De));var $e={state:0,props:pe({},t,{"data-precedence":t.precedence,precedence:null})};if(qe){qe.length===
2&&xt($e.props,qe);var ct=i.preloads.stylesheets.get(Ae);ct&&0<ct.length?ct.length=0:$e.state=1}De.sheets.set(Ae,$e),u&&
u.stylesheets.add($e)}else if(De){var Jt=De.sheets.get(Ae);Jt&&u&&u.stylesheets.add(Jt)}c&&e.push("<!-- -->"),pn=null}else
t.onLoad||t.onError?pn=ie(e,t):(c&&e.push("<!-- -->"),pn=Vt?null:ie(i.hoistableChunks,t));return pn;case"script":var Zr=s.
tagScope&1,Yn=t.async;if(typeof t.src!="string"||!t.src||!Yn||typeof Yn=="function"||typeof Yn=="symbol"||t.onLoad||t.onError||
s.insertionMode===4||Zr||t.itemProp!=null)var Kt=pr(e,t);else{var en=t.src;if(t.type==="module")var vn=r.moduleScriptResources,
yn=i.preloads.moduleScripts;else vn=r.scriptResources,yn=i.preloads.scripts;var Bn=vn.hasOwnProperty(en)?vn[en]:void 0;if(Bn!==
null){vn[en]=null;var st=t;if(Bn){Bn.length===2&&(st=pe({},t),xt(st,Bn));var jt=yn.get(en);jt&&(jt.length=0)}var qt=[];i.
scripts.add(qt),pr(qt,st)}c&&e.push("<!-- -->"),Kt=null}return Kt;case"style":var Vr=s.tagScope&1,zn=t.precedence,Le=t.href,
cu=t.nonce;if(s.insertionMode===4||Vr||t.itemProp!=null||typeof zn!="string"||typeof Le!="string"||Le===""){e.push(X("st\
yle"));var Wn=null,la=null,ft;for(ft in t)if(L.call(t,ft)){var $t=t[ft];if($t!=null)switch(ft){case"children":Wn=$t;break;case"\
dangerouslySetInnerHTML":la=$t;break;default:O(e,ft,$t)}}e.push(">");var dt=Array.isArray(Wn)?2>Wn.length?Wn[0]:null:Wn;
typeof dt!="function"&&typeof dt!="symbol"&&dt!==null&&dt!==void 0&&e.push((""+dt).replace(Va,Qa)),me(e,la,Wn),e.push(Rn(
"style"));var oa=null}else{var bn=i.styles.get(zn);if((r.styleResources.hasOwnProperty(Le)?r.styleResources[Le]:void 0)!==
null){r.styleResources[Le]=null,bn||(bn={precedence:x(zn),rules:[],hrefs:[],sheets:new Map},i.styles.set(zn,bn));var ua=i.
nonce.style;if(!ua||ua===cu){bn.hrefs.push(x(Le));var ca=bn.rules,Gn=null,sa=null,er;for(er in t)if(L.call(t,er)){var Qr=t[er];
if(Qr!=null)switch(er){case"children":Gn=Qr;break;case"dangerouslySetInnerHTML":sa=Qr}}var ht=Array.isArray(Gn)?2>Gn.length?
Gn[0]:null:Gn;typeof ht!="function"&&typeof ht!="symbol"&&ht!==null&&ht!==void 0&&ca.push((""+ht).replace(Va,Qa)),me(ca,
sa,Gn)}}bn&&u&&u.styles.add(bn),c&&e.push("<!-- -->"),oa=void 0}return oa;case"meta":var su=s.tagScope&1,fu=s.tagScope&4;
if(s.insertionMode===4||su||t.itemProp!=null)var fa=Kn(e,t,"meta",s);else c&&e.push("<!-- -->"),fa=fu?null:typeof t.charSet==
"string"?Kn(i.charsetChunks,t,"meta",s):t.name==="viewport"?Kn(i.viewportChunks,t,"meta",s):Kn(i.hoistableChunks,t,"meta",
s);return fa;case"listing":case"pre":e.push(X(n));var gt=null,pt=null,vt;for(vt in t)if(L.call(t,vt)){var nr=t[vt];if(nr!=
null)switch(vt){case"children":gt=nr;break;case"dangerouslySetInnerHTML":pt=nr;break;default:O(e,vt,nr)}}if(be(e,s),e.push(
">"),pt!=null){if(gt!=null)throw Error(p(60));if(typeof pt!="object"||!("__html"in pt))throw Error(p(61));var mn=pt.__html;
mn!=null&&(typeof mn=="string"&&0<mn.length&&mn[0]===`
`?e.push(`
`,mn):e.push(""+mn))}return typeof gt=="string"&&gt[0]===`
`&&e.push(`
`),gt;case"img":var du=s.tagScope&3,te=t.src,q=t.srcSet;if(!(t.loading==="lazy"||!te&&!q||typeof te!="string"&&te!=null||
typeof q!="string"&&q!=null||t.fetchPriority==="low"||du)&&(typeof te!="string"||te[4]!==":"||te[0]!=="d"&&te[0]!=="D"||
te[1]!=="a"&&te[1]!=="A"||te[2]!=="t"&&te[2]!=="T"||te[3]!=="a"&&te[3]!=="A")&&(typeof q!="string"||q[4]!==":"||q[0]!=="\
d"&&q[0]!=="D"||q[1]!=="a"&&q[1]!=="A"||q[2]!=="t"&&q[2]!=="T"||q[3]!=="a"&&q[3]!=="A")){u!==null&&s.tagScope&64&&(u.suspenseyImages=
!0);var da=typeof t.sizes=="string"?t.sizes:void 0,Xn=q?q+`
`+(da||""):te,Jr=i.preloads.images,wn=Jr.get(Xn);if(wn)(t.fetchPriority==="high"||10>i.highImagePreloads.size)&&(Jr.delete(
Xn),i.highImagePreloads.add(wn));else if(!r.imageResources.hasOwnProperty(Xn)){r.imageResources[Xn]=xe;var Kr=t.crossOrigin,
ha=typeof Kr=="string"?Kr==="use-credentials"?Kr:"":void 0,Tn=i.headers,jr;Tn&&0<Tn.remainingCapacity&&typeof t.srcSet!=
"string"&&(t.fetchPriority==="high"||500>Tn.highImagePreloads.length)&&(jr=yr(te,"image",{imageSrcSet:t.srcSet,imageSizes:t.
sizes,crossOrigin:ha,integrity:t.integrity,nonce:t.nonce,type:t.type,fetchPriority:t.fetchPriority,referrerPolicy:t.referrerPolicy}),
0<=(Tn.remainingCapacity-=jr.length+2))?(i.resets.image[Xn]=xe,Tn.highImagePreloads&&(Tn.highImagePreloads+=", "),Tn.highImagePreloads+=
jr):(wn=[],ie(wn,{rel:"preload",as:"image",href:q?void 0:te,imageSrcSet:q,imageSizes:da,crossOrigin:ha,integrity:t.integrity,
type:t.type,fetchPriority:t.fetchPriority,referrerPolicy:t.referrerPolicy}),t.fetchPriority==="high"||10>i.highImagePreloads.
size?i.highImagePreloads.add(wn):(i.bulkPreloads.add(wn),Jr.set(Xn,wn)))}}return Kn(e,t,"img",s);case"base":case"area":case"\
br":case"col":case"embed":case"hr":case"keygen":case"param":case"source":case"track":case"wbr":return Kn(e,t,n,s);case"a\
nnotation-xml":case"color-profile":case"font-face":case"font-face-src":case"font-face-uri":case"font-face-format":case"f\
ont-face-name":case"missing-glyph":break;case"head":if(2>s.insertionMode){var qr=a||i.preamble;if(qr.headChunks)throw Error(
p(545,"`<head>`"));a!==null&&e.push("<!--head-->"),qr.headChunks=[];var ga=si(qr.headChunks,t,"head",s)}else ga=ir(e,t,"\
head",s);return ga;case"body":if(2>s.insertionMode){var $r=a||i.preamble;if($r.bodyChunks)throw Error(p(545,"`<body>`"));
a!==null&&e.push("<!--body-->"),$r.bodyChunks=[];var pa=si($r.bodyChunks,t,"body",s)}else pa=ir(e,t,"body",s);return pa;case"\
html":if(s.insertionMode===0){var ei=a||i.preamble;if(ei.htmlChunks)throw Error(p(545,"`<html>`"));a!==null&&e.push("<!-\
-html-->"),ei.htmlChunks=[""];var va=si(ei.htmlChunks,t,"html",s)}else va=ir(e,t,"html",s);return va;default:if(n.indexOf(
"-")!==-1){e.push(X(n));var ni=null,ya=null,Zn;for(Zn in t)if(L.call(t,Zn)){var Ne=t[Zn];if(Ne!=null){var ba=Zn;switch(Zn){case"\
children":ni=Ne;break;case"dangerouslySetInnerHTML":ya=Ne;break;case"style":Ol(e,Ne);break;case"suppressContentEditableW\
arning":case"suppressHydrationWarning":case"ref":break;case"className":ba="class";default:if(Si(Zn)&&typeof Ne!="functio\
n"&&typeof Ne!="symbol"&&Ne!==!1){if(Ne===!0)Ne="";else if(typeof Ne=="object")continue;e.push(" ",ba,'="',x(Ne),'"')}}}}
return be(e,s),e.push(">"),me(e,ya,ni),ni}}return ir(e,t,n,s)}var ja=new Map;function Rn(e){var n=ja.get(e);return n===void 0&&
(n="</"+e+">",ja.set(e,n)),n}function qa(e,n){e=e.preamble,e.htmlChunks===null&&n.htmlChunks&&(e.htmlChunks=n.htmlChunks),
e.headChunks===null&&n.headChunks&&(e.headChunks=n.headChunks),e.bodyChunks===null&&n.bodyChunks&&(e.bodyChunks=n.bodyChunks)}
function Fl(e,n){n=n.bootstrapChunks;for(var t=0;t<n.length-1;t++)e.push(n[t]);return t<n.length?(t=n[t],n.length=0,e.push(
t)):!0}function $a(e,n,t){if(e.push('<!--$?--><template id="'),t===null)throw Error(p(395));return e.push(n.boundaryPrefix),
n=t.toString(16),e.push(n),e.push('"></template>')}function rc(e,n,t,r){switch(t.insertionMode){case 0:case 1:case 3:case 2:
return e.push('<div hidden id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');case 4:return e.push('\
<svg aria-hidden="true" style="display:none" id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');case 5:
return e.push('<math aria-hidden="true" style="display:none" id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.
push('">');case 6:return e.push('<table hidden id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');case 7:
return e.push('<table hidden><tbody id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');case 8:return e.
push('<table hidden><tr id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');case 9:return e.push('<ta\
ble hidden><colgroup id="'),e.push(n.segmentPrefix),n=r.toString(16),e.push(n),e.push('">');default:throw Error(p(397))}}
function ic(e,n){switch(n.insertionMode){case 0:case 1:case 3:case 2:return e.push("</div>");case 4:return e.push("</svg\
>");case 5:return e.push("</math>");case 6:return e.push("</table>");case 7:return e.push("</tbody></table>");case 8:return e.
push("</tr></table>");case 9:return e.push("</colgroup></table>");default:throw Error(p(397))}}var ac=/[<\u2028\u2029]/g;
function lc(e){return JSON.stringify(e).replace(ac,function(n){switch(n){case"<":return"\\u003c";case"\u2028":return"\\u2\
028";case"\u2029":return"\\u2029";default:throw Error("escapeJSStringsForInstructionScripts encountered a match it does \
not know how to replace. this means the match regex and the replacement characters are no longer in sync. This is a bug \
in React")}})}var oc=/[&><\u2028\u2029]/g;function wt(e){return JSON.stringify(e).replace(oc,function(n){switch(n){case"\
&":return"\\u0026";case">":return"\\u003e";case"<":return"\\u003c";case"\u2028":return"\\u2028";case"\u2029":return"\\u20\
29";default:throw Error("escapeJSObjectForInstructionScripts encountered a match it does not know how to replace. this m\
eans the match regex and the replacement characters are no longer in sync. This is a bug in React")}})}var vr=!1,yi=!0;function uc(e){
var n=e.rules,t=e.hrefs,r=0;if(t.length){for(this.push(qn.startInlineStyle),this.push(' media="not all" data-precedence=\
"'),this.push(e.precedence),this.push('" data-href="');r<t.length-1;r++)this.push(t[r]),this.push(" ");for(this.push(t[r]),
this.push('">'),r=0;r<n.length;r++)this.push(n[r]);yi=this.push("</style>"),vr=!0,n.length=0,t.length=0}}function cc(e){
return e.state!==2?vr=!0:!1}function Ll(e,n,t){return vr=!1,yi=!0,qn=t,n.styles.forEach(uc,e),qn=null,n.stylesheets.forEach(
cc),vr&&(t.stylesToHoist=!0),yi}function Se(e){for(var n=0;n<e.length;n++)this.push(e[n]);e.length=0}var rn=[];function sc(e){
ie(rn,e.props);for(var n=0;n<rn.length;n++)this.push(rn[n]);rn.length=0,e.state=2}function fc(e){var n=0<e.sheets.size;e.
sheets.forEach(sc,this),e.sheets.clear();var t=e.rules,r=e.hrefs;if(!n||r.length){if(this.push(qn.startInlineStyle),this.
push(' data-precedence="'),this.push(e.precedence),e=0,r.length){for(this.push('" data-href="');e<r.length-1;e++)this.push(
r[e]),this.push(" ");this.push(r[e])}for(this.push('">'),e=0;e<t.length;e++)this.push(t[e]);this.push("</style>"),t.length=
0,r.length=0}}function dc(e){if(e.state===0){e.state=1;var n=e.props;for(ie(rn,{rel:"preload",as:"style",href:e.props.href,
crossOrigin:n.crossOrigin,fetchPriority:n.fetchPriority,integrity:n.integrity,media:n.media,hrefLang:n.hrefLang,referrerPolicy:n.
referrerPolicy}),e=0;e<rn.length;e++)this.push(rn[e]);rn.length=0}}function hc(e){e.sheets.forEach(dc,this),e.sheets.clear()}
function ur(e,n){(n.instructions&32)===0&&(n.instructions|=32,e.push(' id="',x("_"+n.idPrefix+"R_"),'"'))}function gc(e,n){
e.push("[");var t="[";n.stylesheets.forEach(function(r){if(r.state!==2)if(r.state===3)e.push(t),r=wt(""+r.props.href),e.
push(r),e.push("]"),t=",[";else{e.push(t);var i=r.props["data-precedence"],a=r.props,u=Pt(""+r.props.href);u=wt(u),e.push(
u),i=""+i,e.push(","),i=wt(i),e.push(i);for(var s in a)if(L.call(a,s)&&(i=a[s],i!=null))switch(s){case"href":case"rel":case"\
precedence":case"data-precedence":break;case"children":case"dangerouslySetInnerHTML":throw Error(p(399,"link"));default:
pc(e,s,i)}e.push("]"),t=",[",r.state=3}}),e.push("]")}function pc(e,n,t){var r=n.toLowerCase();switch(typeof t){case"fun\
ction":case"symbol":return}switch(n){case"innerHTML":case"dangerouslySetInnerHTML":case"suppressContentEditableWarning":case"\
suppressHydrationWarning":case"style":case"ref":return;case"className":r="class",n=""+t;break;case"hidden":if(t===!1)return;
n="";break;case"src":case"href":t=Pt(t),n=""+t;break;default:if(2<n.length&&(n[0]==="o"||n[0]==="O")&&(n[1]==="n"||n[1]===
"N")||!Si(n))return;n=""+t}e.push(","),r=wt(r),e.push(r),e.push(","),r=wt(n),e.push(r)}function bi(){return{styles:new Set,
stylesheets:new Set,suspenseyImages:!1}}function vc(e){var n=ee||null;if(n){var t=n.resumableState,r=n.renderState;if(typeof e==
"string"&&e){if(!t.dnsResources.hasOwnProperty(e)){t.dnsResources[e]=null,t=r.headers;var i,a;(a=t&&0<t.remainingCapacity)&&
(a=(i="<"+(""+e).replace(Oi,_i)+">; rel=dns-prefetch",0<=(t.remainingCapacity-=i.length+2))),a?(r.resets.dns[e]=null,t.preconnects&&
(t.preconnects+=", "),t.preconnects+=i):(i=[],ie(i,{href:e,rel:"dns-prefetch"}),r.preconnects.add(i))}_n(n)}}else Be.D(e)}
function yc(e,n){var t=ee||null;if(t){var r=t.resumableState,i=t.renderState;if(typeof e=="string"&&e){var a=n==="use-cr\
edentials"?"credentials":typeof n=="string"?"anonymous":"default";if(!r.connectResources[a].hasOwnProperty(e)){r.connectResources[a][e]=
null,r=i.headers;var u,s;if(s=r&&0<r.remainingCapacity){if(s="<"+(""+e).replace(Oi,_i)+">; rel=preconnect",typeof n=="st\
ring"){var c=(""+n).replace(mi,wi);s+='; crossorigin="'+c+'"'}s=(u=s,0<=(r.remainingCapacity-=u.length+2))}s?(i.resets.connect[a][e]=
null,r.preconnects&&(r.preconnects+=", "),r.preconnects+=u):(a=[],ie(a,{rel:"preconnect",href:e,crossOrigin:n}),i.preconnects.
add(a))}_n(t)}}else Be.C(e,n)}function bc(e,n,t){var r=ee||null;if(r){var i=r.resumableState,a=r.renderState;if(n&&e){switch(n){case"\
image":if(t)var u=t.imageSrcSet,s=t.imageSizes,c=t.fetchPriority;var l=u?u+`
`+(s||""):e;if(i.imageResources.hasOwnProperty(l))return;i.imageResources[l]=xe,i=a.headers;var o;i&&0<i.remainingCapacity&&
typeof u!="string"&&c==="high"&&(o=yr(e,n,t),0<=(i.remainingCapacity-=o.length+2))?(a.resets.image[l]=xe,i.highImagePreloads&&
(i.highImagePreloads+=", "),i.highImagePreloads+=o):(i=[],ie(i,pe({rel:"preload",href:u?void 0:e,as:n},t)),c==="high"?a.
highImagePreloads.add(i):(a.bulkPreloads.add(i),a.preloads.images.set(l,i)));break;case"style":if(i.styleResources.hasOwnProperty(
e))return;u=[],ie(u,pe({rel:"preload",href:e,as:n},t)),i.styleResources[e]=!t||typeof t.crossOrigin!="string"&&typeof t.
integrity!="string"?xe:[t.crossOrigin,t.integrity],a.preloads.stylesheets.set(e,u),a.bulkPreloads.add(u);break;case"scri\
pt":if(i.scriptResources.hasOwnProperty(e))return;u=[],a.preloads.scripts.set(e,u),a.bulkPreloads.add(u),ie(u,pe({rel:"p\
reload",href:e,as:n},t)),i.scriptResources[e]=!t||typeof t.crossOrigin!="string"&&typeof t.integrity!="string"?xe:[t.crossOrigin,
t.integrity];break;default:if(i.unknownResources.hasOwnProperty(n)){if(u=i.unknownResources[n],u.hasOwnProperty(e))return}else
u={},i.unknownResources[n]=u;u[e]=xe,(i=a.headers)&&0<i.remainingCapacity&&n==="font"&&(l=yr(e,n,t),0<=(i.remainingCapacity-=
l.length+2))?(a.resets.font[e]=xe,i.fontPreloads&&(i.fontPreloads+=", "),i.fontPreloads+=l):(i=[],e=pe({rel:"preload",href:e,
as:n},t),ie(i,e),n)==="font"?a.fontPreloads.add(i):a.bulkPreloads.add(i)}_n(r)}}else Be.L(e,n,t)}function mc(e,n){var t=ee||
null;if(t){var r=t.resumableState,i=t.renderState;if(e){var a=n&&typeof n.as=="string"?n.as:"script";switch(a){case"scri\
pt":if(r.moduleScriptResources.hasOwnProperty(e))return;a=[],r.moduleScriptResources[e]=!n||typeof n.crossOrigin!="strin\
g"&&typeof n.integrity!="string"?xe:[n.crossOrigin,n.integrity],i.preloads.moduleScripts.set(e,a);break;default:if(r.moduleUnknownResources.
hasOwnProperty(a)){var u=r.moduleUnknownResources[a];if(u.hasOwnProperty(e))return}else u={},r.moduleUnknownResources[a]=
u;a=[],u[e]=xe}ie(a,pe({rel:"modulepreload",href:e},n)),i.bulkPreloads.add(a),_n(t)}}else Be.m(e,n)}function wc(e,n,t){var r=ee||
null;if(r){var i=r.resumableState,a=r.renderState;if(e){n=n||"default";var u=a.styles.get(n),s=i.styleResources.hasOwnProperty(
e)?i.styleResources[e]:void 0;s!==null&&(i.styleResources[e]=null,u||(u={precedence:x(n),rules:[],hrefs:[],sheets:new Map},
a.styles.set(n,u)),n={state:0,props:pe({rel:"stylesheet",href:e,"data-precedence":n},t)},s&&(s.length===2&&xt(n.props,s),
(a=a.preloads.stylesheets.get(e))&&0<a.length?a.length=0:n.state=1),u.sheets.set(e,n),_n(r))}}else Be.S(e,n,t)}function Tc(e,n){
var t=ee||null;if(t){var r=t.resumableState,i=t.renderState;if(e){var a=r.scriptResources.hasOwnProperty(e)?r.scriptResources[e]:
void 0;a!==null&&(r.scriptResources[e]=null,n=pe({src:e,async:!0},n),a&&(a.length===2&&xt(n,a),e=i.preloads.scripts.get(
e))&&(e.length=0),e=[],i.scripts.add(e),pr(e,n),_n(t))}}else Be.X(e,n)}function Pc(e,n){var t=ee||null;if(t){var r=t.resumableState,
i=t.renderState;if(e){var a=r.moduleScriptResources.hasOwnProperty(e)?r.moduleScriptResources[e]:void 0;a!==null&&(r.moduleScriptResources[e]=
null,n=pe({src:e,type:"module",async:!0},n),a&&(a.length===2&&xt(n,a),e=i.preloads.moduleScripts.get(e))&&(e.length=0),e=
[],i.scripts.add(e),pr(e,n),_n(t))}}else Be.M(e,n)}function xt(e,n){e.crossOrigin==null&&(e.crossOrigin=n[0]),e.integrity==
null&&(e.integrity=n[1])}function yr(e,n,t){e=(""+e).replace(Oi,_i),n=(""+n).replace(mi,wi),n="<"+e+'>; rel=preload; as=\
"'+n+'"';for(var r in t)L.call(t,r)&&(e=t[r],typeof e=="string"&&(n+="; "+r.toLowerCase()+'="'+(""+e).replace(mi,wi)+'"'));
return n}var Oi=/[<>\r\n]/g;function _i(e){switch(e){case"<":return"%3C";case">":return"%3E";case`
`:return"%0A";case"\r":return"%0D";default:throw Error("escapeLinkHrefForHeaderContextReplacer encountered a match it do\
es not know how to replace. this means the match regex and the replacement characters are no longer in sync. This is a b\
ug in React")}}var mi=/["';,\r\n]/g;function wi(e){switch(e){case'"':return"%22";case"'":return"%27";case";":return"%3B";case"\
,":return"%2C";case`
`:return"%0A";case"\r":return"%0D";default:throw Error("escapeStringForLinkHeaderQuotedParamValueContextReplacer encount\
ered a match it does not know how to replace. this means the match regex and the replacement characters are no longer in\
 sync. This is a bug in React")}}function xc(e){this.styles.add(e)}function Ec(e){this.stylesheets.add(e)}function $n(e,n){
n.styles.forEach(xc,e),n.stylesheets.forEach(Ec,e),n.suspenseyImages&&(e.suspenseyImages=!0)}function Rc(e,n){var t=e.idPrefix,
r=[],i=e.bootstrapScriptContent,a=e.bootstrapScripts,u=e.bootstrapModules;i!==void 0&&(r.push("<script"),ur(r,e),r.push(
">",(""+i).replace(Cl,Al),"</script>")),i=t+"P:";var s=t+"S:";t+="B:";var c=new Set,l=new Set,o=new Set,f=new Map,d=new Set,
h=new Set,g=new Set,y={images:new Map,stylesheets:new Map,scripts:new Map,moduleScripts:new Map};if(a!==void 0)for(var C=0;C<
a.length;C++){var T=a[C],S,D=void 0,H=void 0,P={rel:"preload",as:"script",fetchPriority:"low",nonce:void 0};typeof T=="s\
tring"?P.href=S=T:(P.href=S=T.src,P.integrity=H=typeof T.integrity=="string"?T.integrity:void 0,P.crossOrigin=D=typeof T==
"string"||T.crossOrigin==null?void 0:T.crossOrigin==="use-credentials"?"use-credentials":""),T=e;var N=S;T.scriptResources[N]=
null,T.moduleScriptResources[N]=null,T=[],ie(T,P),d.add(T),r.push('<script src="',x(S),'"'),typeof H=="string"&&r.push('\
 integrity="',x(H),'"'),typeof D=="string"&&r.push(' crossorigin="',x(D),'"'),ur(r,e),r.push(' async=""></script>')}if(u!==
void 0)for(a=0;a<u.length;a++)P=u[a],D=S=void 0,H={rel:"modulepreload",fetchPriority:"low",nonce:void 0},typeof P=="stri\
ng"?H.href=C=P:(H.href=C=P.src,H.integrity=D=typeof P.integrity=="string"?P.integrity:void 0,H.crossOrigin=S=typeof P=="\
string"||P.crossOrigin==null?void 0:P.crossOrigin==="use-credentials"?"use-credentials":""),P=e,T=C,P.scriptResources[T]=
null,P.moduleScriptResources[T]=null,P=[],ie(P,H),d.add(P),r.push('<script type="module" src="',x(C),'"'),typeof D=="str\
ing"&&r.push(' integrity="',x(D),'"'),typeof S=="string"&&r.push(' crossorigin="',x(S),'"'),ur(r,e),r.push(' async=""></\
script>');return{placeholderPrefix:i,segmentPrefix:s,boundaryPrefix:t,startInlineScript:"<script",startInlineStyle:"<sty\
le",preamble:{htmlChunks:null,headChunks:null,bodyChunks:null},externalRuntimeScript:null,bootstrapChunks:r,importMapChunks:[],
onHeaders:void 0,headers:null,resets:{font:{},dns:{},connect:{default:{},anonymous:{},credentials:{}},image:{},style:{}},
charsetChunks:[],viewportChunks:[],hoistableChunks:[],preconnects:c,fontPreloads:l,highImagePreloads:o,styles:f,bootstrapScripts:d,
scripts:h,bulkPreloads:g,preloads:y,nonce:{script:void 0,style:void 0},stylesToHoist:!1,generateStaticMarkup:n}}function el(e,n,t,r){
return t.generateStaticMarkup?(e.push(x(n)),!1):(n===""?e=r:(r&&e.push("<!-- -->"),e.push(x(n)),e=!0),e)}function Tt(e,n,t,r){
n.generateStaticMarkup||t&&r&&e.push("<!-- -->")}var Cc=Function.prototype.bind,Ac=Symbol.for("react.client.reference");
function br(e){if(e==null)return null;if(typeof e=="function")return e.$$typeof===Ac?null:e.displayName||e.name||null;if(typeof e==
"string")return e;switch(e){case ml:return"Fragment";case Tl:return"Profiler";case wl:return"StrictMode";case Sr:return"\
Suspense";case Ci:return"SuspenseList";case xl:return"Activity";case Ni:return"ViewTransition"}if(typeof e=="object")switch(e.
$$typeof){case bl:return"Portal";case Nr:return e.displayName||"Context";case Pl:return(e._context.displayName||"Context")+
".Consumer";case Ri:var n=e.render;return e=e.displayName,e||(e=n.displayName||n.name||"",e=e!==""?"ForwardRef("+e+")":"\
ForwardRef"),e;case Ai:return n=e.displayName||null,n!==null?n:br(e.type)||"Memo";case Or:n=e._payload,e=e._init;try{return br(
e(n))}catch{}}return null}var nl={},En=null;function kr(e,n){if(e!==n){e.context._currentValue2=e.parentValue,e=e.parent;
var t=n.parent;if(e===null){if(t!==null)throw Error(p(401))}else{if(t===null)throw Error(p(401));kr(e,t)}n.context._currentValue2=
n.value}}function Ul(e){e.context._currentValue2=e.parentValue,e=e.parent,e!==null&&Ul(e)}function Hl(e){var n=e.parent;
n!==null&&Hl(n),e.context._currentValue2=e.value}function Dl(e,n){if(e.context._currentValue2=e.parentValue,e=e.parent,e===
null)throw Error(p(402));e.depth===n.depth?kr(e,n):Dl(e,n)}function Yl(e,n){var t=n.parent;if(t===null)throw Error(p(402));
e.depth===t.depth?kr(e,t):Yl(e,t),n.context._currentValue2=n.value}function tn(e){var n=En;n!==e&&(n===null?Hl(e):e===null?
Ul(n):n.depth===e.depth?kr(n,e):n.depth>e.depth?Dl(n,e):Yl(n,e),En=e)}var tl={enqueueSetState:function(e,n){e=e._reactInternals,
e.queue!==null&&e.queue.push(n)},enqueueReplaceState:function(e,n){e=e._reactInternals,e.replace=!0,e.queue=[n]},enqueueForceUpdate:function(){}},
Nc={id:1,overflow:""};function Bl(e){var n=e.overflow;return e=e.id,(e&~(1<<32-cr(e)-1)).toString(32)+n}function an(e,n,t){
var r=e.id;e=e.overflow;var i=32-cr(r)-1;r&=~(1<<i),t+=1;var a=32-cr(n)+i;if(30<a){var u=i-i%5;return a=(r&(1<<u)-1).toString(
32),r>>=u,i-=u,{id:1<<32-cr(n)+i|t<<i|r,overflow:a+e}}return{id:1<<a|t<<i|r,overflow:e}}var cr=Math.clz32?Math.clz32:_c,
Sc=Math.log,Oc=Math.LN2;function _c(e){return e>>>=0,e===0?32:31-(Sc(e)/Oc|0)|0}function ge(){}var se=Error(p(460));function kc(e,n,t){
switch(t=e[t],t===void 0?e.push(n):t!==n&&(n.then(ge,ge),n=t),n.status){case"fulfilled":return n.value;case"rejected":throw e=
n.reason,e===void 0&&!("reason"in n)?Error(p(600)):e;default:switch(typeof n.status=="string"?n.then(ge,ge):(e=n,e.status=
"pending",e.then(function(r){if(n.status==="pending"){var i=n;i.status="fulfilled",i.value=r}},function(r){if(n.status===
"pending"){var i=n;i.status="rejected",i.reason=r}})),n.status){case"fulfilled":return n.value;case"rejected":throw n.reason}
throw sr=n,se}}var sr=null;function mr(){if(sr===null)throw Error(p(459));var e=sr;return sr=null,e}function Mc(e,n){return e===
n&&(e!==0||1/e===1/n)||e!==e&&n!==n}var Ic=typeof Object.is=="function"?Object.is:Mc,ze=null,ki=null,Mi=null,Ii=null,fr=null,
M=null,bt=!1,wr=!1,Et=0,Rt=0,Ct=-1,Tr=0,jn=null;function zl(e){if(e=e._reason,typeof e=="function")try{var n=e()}catch{n=
"The reason for browser-only rendering could not be determined because its initializer threw."}else n=e;return n=Error(p(
603),e===void 0?void 0:{cause:n}),Object.defineProperty(n,_r,{value:!0}),n}function Mr(e){return typeof e!="object"||e===
null?!1:e[_r]===!0}function Fi(e){var n=Error(p(604),L.call(e,"cause")?{cause:e.cause}:void 0);if(e=e.stack,e!==void 0){
var t=e.indexOf(`
`);n.stack=n.name+": "+n.message+(t===-1?"":e.slice(t))}else n.stack=void 0;return n}var ln=null,Ir=0;function Ye(){if(ze===
null)throw Error(p(321));return ze}function rl(){if(0<Ir)throw Error(p(312));return{memoizedState:null,queue:null,next:null}}
function Li(){return M===null?fr===null?(bt=!1,fr=M=rl()):(bt=!0,M=fr):M.next===null?(bt=!1,M=M.next=rl()):(bt=!0,M=M.next),
M}function on(){var e=jn;return jn=null,e}function At(){Ii=Mi=ki=ze=null,wr=!1,fr=null,Ir=0,M=ln=null}function Wl(e,n){return typeof n==
"function"?n(e):n}function il(e,n,t){if(ze=Ye(),M=Li(),bt){var r=M.queue;if(n=r.dispatch,ln!==null&&(t=ln.get(r),t!==void 0)){
ln.delete(r),r=M.memoizedState;do r=e(r,t.action),t=t.next;while(t!==null);return M.memoizedState=r,[r,n]}return[M.memoizedState,
n]}return e=e===Wl?typeof n=="function"?n():n:t!==void 0?t(n):n,M.memoizedState=e,e=M.queue={last:null,dispatch:null},e=
e.dispatch=Fc.bind(null,ze,e),[M.memoizedState,e]}function al(e,n){if(ze=Ye(),M=Li(),n=n===void 0?null:n,M!==null){var t=M.
memoizedState;if(t!==null&&n!==null){var r=t[1];e:if(r===null)r=!1;else{for(var i=0;i<r.length&&i<n.length;i++)if(!Ic(n[i],
r[i])){r=!1;break e}r=!0}if(r)return t[0]}}return e=e(),M.memoizedState=[e,n],e}function Fc(e,n,t){if(25<=Ir)throw Error(
p(301));if(e===ze)if(wr=!0,e={action:t,next:null},ln===null&&(ln=new Map),t=ln.get(n),t===void 0)ln.set(n,e);else{for(n=
t;n.next!==null;)n=n.next;n.next=e}}function Lc(){throw Error(p(440))}function Uc(){throw Error(p(394))}function Hc(){throw Error(
p(479))}function ll(e,n,t){Ye();var r=Rt++,i=Mi;if(typeof e.$$FORM_ACTION=="function"){var a=null,u=Ii;i=i.formState;var s=e.
$$IS_SIGNATURE_EQUAL;if(i!==null&&typeof s=="function"){var c=i[1];s.call(e,i[2],i[3])&&(a=t!==void 0?"p"+t:"k"+Ba(JSON.
stringify([u,null,r]),0),c===a&&(Ct=r,n=i[0]))}var l=e.bind(null,n);return e=function(f){l(f)},typeof l.$$FORM_ACTION=="\
function"&&(e.$$FORM_ACTION=function(f){f=l.$$FORM_ACTION(f),t!==void 0&&(t+="",f.action=t);var d=f.data;return d&&(a===
null&&(a=t!==void 0?"p"+t:"k"+Ba(JSON.stringify([u,null,r]),0)),d.append("$ACTION_KEY",a)),f}),[n,e,!1]}var o=e.bind(null,
n);return[n,function(f){o(f)},!1]}function Gl(e){var n=Tr;return Tr+=1,jn===null&&(jn=[]),kc(jn,e,n)}function Dc(){throw Error(
p(393))}var ol={readContext:function(e){return e._currentValue2},use:function(e){if(e!==null&&typeof e=="object"){if(typeof e.
then=="function")return Gl(e);if(e.$$typeof===_r)throw zl(e);if(e.$$typeof===Nr)return e._currentValue2}throw Error(p(438,
String(e)))},useContext:function(e){return Ye(),e._currentValue2},useMemo:al,useReducer:il,useRef:function(e){ze=Ye(),M=
Li();var n=M.memoizedState;return n===null?(e={current:e},M.memoizedState=e):n},useState:function(e){return il(Wl,e)},useInsertionEffect:ge,
useLayoutEffect:ge,useCallback:function(e,n){return al(function(){return e},n)},useImperativeHandle:ge,useEffect:ge,useDebugValue:ge,
useDeferredValue:function(e,n){return Ye(),n!==void 0?n:e},useTransition:function(){return Ye(),[!1,Uc]},useId:function(){
var e=Bl(ki.treeContext),n=dr;if(n===null)throw Error(p(404));var t=Et++;return Sl(n,e,t)},useSyncExternalStore:function(e,n,t){
if(t===void 0)throw Error(p(407));return t()},useOptimistic:function(e){return Ye(),[e,Hc]},useActionState:ll,useFormState:ll,
useHostTransitionStatus:function(){return Ye(),qu},useMemoCache:function(e){for(var n=Array(e),t=0;t<e;t++)n[t]=Wu;return n},
useCacheRefresh:function(){return Dc},useEffectEvent:function(){return Lc}},dr=null,Yc={getCacheForType:function(){throw Error(
p(248))},cacheSignal:function(){throw Error(p(248))}},fi,ul;function xn(e){if(fi===void 0)try{throw Error()}catch(t){var n=t.
stack.trim().match(/\n( *(at )?)/);fi=n&&n[1]||"",ul=-1<t.stack.indexOf(`
    at`)?" (<anonymous>)":-1<t.stack.indexOf("@")?"@unknown:0:0":""}return`
`+fi+e+ul}var di=!1;function ar(e,n){if(!e||di)return"";di=!0;var t=Error.prepareStackTrace;Error.prepareStackTrace=void 0;
try{var r={DetermineComponentFrameRoot:function(){try{if(n){var f=function(){throw Error()};if(Object.defineProperty(f.prototype,
"props",{set:function(){throw Error()}}),typeof Reflect=="object"&&Reflect.construct){try{Reflect.construct(f,[])}catch(g){
var d=g}Reflect.construct(e,[],f)}else{try{f.call()}catch(g){d=g}f=!1;try{var h=Object.getOwnPropertyDescriptor(e.prototype,
"props");Object.defineProperty(e.prototype,"props",{configurable:!0,set:function(){throw Error()}}),f=!0,new e}finally{f&&
(h!==void 0?Object.defineProperty(e.prototype,"props",h):delete e.prototype.props)}}}else{try{throw Error()}catch(g){d=g}
(f=e())&&typeof f.catch=="function"&&f.catch(function(){})}}catch(g){if(g&&d&&typeof g.stack=="string")return[g.stack,d.
stack]}return[null,null]}};r.DetermineComponentFrameRoot.displayName="DetermineComponentFrameRoot";var i=Object.getOwnPropertyDescriptor(
r.DetermineComponentFrameRoot,"name");i&&i.configurable&&Object.defineProperty(r.DetermineComponentFrameRoot,"name",{value:"\
DetermineComponentFrameRoot"});var a=r.DetermineComponentFrameRoot(),u=a[0],s=a[1];if(u&&s){var c=u.split(`
`),l=s.split(`
`);for(i=r=0;r<c.length&&!c[r].includes("DetermineComponentFrameRoot");)r++;for(;i<l.length&&!l[i].includes("DetermineCo\
mponentFrameRoot");)i++;if(r===c.length||i===l.length)for(r=c.length-1,i=l.length-1;1<=r&&0<=i&&c[r]!==l[i];)i--;for(;1<=
r&&0<=i;r--,i--)if(c[r]!==l[i]){if(r!==1||i!==1)do if(r--,i--,0>i||c[r]!==l[i]){var o=`
`+c[r].replace(" at new "," at ");return e.displayName&&o.includes("<anonymous>")&&(o=o.replace("<anonymous>",e.displayName)),
o}while(1<=r&&0<=i);break}}}finally{di=!1,Error.prepareStackTrace=t}return(t=e?e.displayName||e.name:"")?xn(t):""}function Xl(e){
if(typeof e=="string")return xn(e);if(typeof e=="function")return e.prototype&&e.prototype.isReactComponent?ar(e,!0):ar(
e,!1);if(typeof e=="object"&&e!==null){switch(e.$$typeof){case Ri:return ar(e.render,!1);case Ai:return ar(e.type,!1);case Or:
var n=e,t=n._payload;n=n._init;try{e=n(t)}catch{return xn("Lazy")}return Xl(e)}if(typeof e.name=="string"){e:{t=e.name,n=
e.env;var r=e.debugLocation;if(r!=null&&(e=Error.prepareStackTrace,Error.prepareStackTrace=void 0,r=r.stack,Error.prepareStackTrace=
e,r.startsWith(`Error: react-stack-top-frame
`)&&(r=r.slice(29)),e=r.indexOf(`
`),e!==-1&&(r=r.slice(e+1)),e=r.indexOf("react_stack_bottom_frame"),e!==-1&&(e=r.lastIndexOf(`
`,e)),e=e!==-1?r=r.slice(0,e):"",r=e.lastIndexOf(`
`),e=r===-1?e:e.slice(r+1),e.indexOf(t)!==-1)){t=`
`+e;break e}t=xn(t+(n?" ["+n+"]":""))}return t}}switch(e){case Ci:return xn("SuspenseList");case Sr:return xn("Suspense");case Ni:
return xn("ViewTransition")}return""}function et(e,n){return(500<n.byteSize||n.defer)&&n.preamble===null}function Bc(e){
if(typeof e=="object"&&e!==null&&typeof e.environmentName=="string"){var n=e.environmentName;e=[e].slice(0),typeof e[0]==
"string"?e.splice(0,1,"[%s] "+e[0]," "+n+" "):e.splice(0,0,"[%s]"," "+n+" "),e.unshift(console),n=Cc.apply(console.error,
e),n()}else console.error(e);return null}function zc(e,n,t,r,i,a,u,s,c,l,o){var f=new Set;this.destination=null,this.flushScheduled=
!1,this.resumableState=e,this.renderState=n,this.rootFormatContext=t,this.progressiveChunkSize=r===void 0?12800:r,this.status=
10,this.fatalError=null,this.aborted=!1,this.pendingRootTasks=this.allPendingTasks=this.nextSegmentId=0,this.completedPreambleSegments=
this.completedRootSegment=null,this.byteSize=0,this.abortableTasks=f,this.pingedTasks=[],this.currentTask=null,this.clientRenderedBoundaries=
[],this.completedBoundaries=[],this.partialBoundaries=[],this.postponedState=this.trackedPostpones=null,this.onError=i===
void 0?Bc:i,this.onBrowserBailout=a===void 0?ge:a,this.onAllReady=u===void 0?ge:u,this.onShellReady=s===void 0?ge:s,this.
onShellError=c===void 0?ge:c,this.onFatalError=l===void 0?ge:l,this.renderLifetimeController=null,this.formState=o===void 0?
null:o}function Wc(e,n,t,r,i,a,u,s,c,l,o,f){return n=new zc(n,t,r,i,a,u,s,c,l,o,f),t=Cn(n,0,null,r,!1,!1),t.parentFlushed=
!0,e=xr(n,null,e,-1,null,t,null,null,n.abortableTasks,null,r,null,Nc,null,null),Nt(e),n.pingedTasks.push(e),n}var ee=null;
function Pr(e,n){e.pingedTasks.push(n),e.pingedTasks.length===1&&(e.flushScheduled=e.destination!==null,Ql(e))}function Ui(e,n,t,r,i){
return t={status:0,rootSegmentID:-1,parentFlushed:!1,pendingTasks:0,row:n,completedSegments:[],byteSize:0,defer:i,fallbackAbortableTasks:t,
errorDigest:null,contentState:bi(),fallbackState:bi(),preamble:r,tracked:null},n!==null&&(n.pendingTasks++,r=n.boundaries,
r!==null&&(e.allPendingTasks++,t.pendingTasks++,r.push(t)),e=n.inheritedHoistables,e!==null&&$n(t.contentState,e)),t}function xr(e,n,t,r,i,a,u,s,c,l,o,f,d,h,g){
e.allPendingTasks++,i===null?e.pendingRootTasks++:i.pendingTasks++,h!==null&&h.pendingTasks++;var y={replay:null,node:t,
childIndex:r,ping:{resolve:function(){return Pr(e,y)},reject:function(C){e.aborted?y.abortSet.delete(y)&&Sn(y,e,C):Pr(e,
y)}},blockedBoundary:i,blockedSegment:a,blockedPreamble:u,hoistableState:s,abortSet:c,keyPath:l,formatContext:o,context:f,
treeContext:d,row:h,componentStack:g,thenableState:n};return c.add(y),y}function Zl(e,n,t,r,i,a,u,s,c,l,o,f,d,h){e.allPendingTasks++,
a===null?e.pendingRootTasks++:a.pendingTasks++,d!==null&&d.pendingTasks++,t.pendingTasks++;var g={replay:t,node:r,childIndex:i,
ping:{resolve:function(){return Pr(e,g)},reject:function(y){e.aborted?g.abortSet.delete(g)&&Sn(g,e,y):Pr(e,g)}},blockedBoundary:a,
blockedSegment:null,blockedPreamble:null,hoistableState:u,abortSet:s,keyPath:c,formatContext:l,context:o,treeContext:f,row:d,
componentStack:h,thenableState:n};return s.add(g),g}function Cn(e,n,t,r,i,a){return{status:0,parentFlushed:!1,id:-1,index:n,
chunks:[],children:[],preambleChildren:[],parentFormatContext:r,boundary:t,lastPushedText:i,textEmbedded:a}}function Nt(e){
var n=e.node;typeof n=="object"&&n!==null&&n.$$typeof===yl&&(e.componentStack={parent:e.componentStack,type:n.type})}function Ti(e){
return e===null?null:{parent:e.parent,type:"Suspense Fallback"}}function Nn(e){var n={};return e&&Object.defineProperty(
n,"componentStack",{configurable:!0,enumerable:!0,get:function(){try{var t="",r=e;do t+=Xl(r.type),r=r.parent;while(r);var i=t}catch(a){
i=`
Error generating stack: `+a.message+`
`+a.stack}return Object.defineProperty(n,"componentStack",{value:i}),i}}),n}function J(e,n,t){if(Mr(n))return e=e.onBrowserBailout,
e(n,t),"";if(e=e.onError,n=e(n,t),n==null||typeof n=="string")return n===""?void 0:n}function An(e,n){var t=e.onShellError,
r=e.onFatalError;e.pendingRootTasks!==0&&t(n),r(n),zi(e),e.destination!==null?(e.status=13,e.destination.destroy(n)):(e.
status=12,e.aborted||(e.fatalError=n))}function ae(e,n){Hi(e,n.next,n.hoistables)}function Hi(e,n,t){for(;n!==null;){t!==
null&&($n(n.hoistables,t),n.inheritedHoistables=t);var r=n.boundaries;if(r!==null){n.boundaries=null;for(var i=0;i<r.length;i++){
var a=r[i];t!==null&&$n(a.contentState,t),On(e,a,null,null)}}if(n.pendingTasks--,0<n.pendingTasks)break;t=n.hoistables,n=
n.next}}function Pi(e,n){var t=n.boundaries;if(t!==null&&n.pendingTasks===t.length){for(var r=!0,i=0;i<t.length;i++){var a=t[i];
if(a.pendingTasks!==1||a.parentFlushed||et(e,a)){r=!1;break}}r&&Hi(e,n,n.hoistables)}}function mt(e){var n={pendingTasks:1,
boundaries:null,hoistables:bi(),inheritedHoistables:null,together:!1,next:null};return e!==null&&0<e.pendingTasks&&(n.pendingTasks++,
n.boundaries=[],e.next=n),n}function cl(e,n,t,r,i){var a=n.keyPath,u=n.treeContext,s=n.row;n.keyPath=t,t=r.length;var c=null;
if(n.replay!==null){var l=n.replay.slots;if(l!==null&&typeof l=="object")for(var o=0;o<t;o++){var f=i!=="backwards"&&i!==
"unstable_legacy-backwards"?o:t-1-o,d=r[f];n.row=c=mt(c),n.treeContext=an(u,t,f);var h=l[f];typeof h=="number"?(Fr(e,n,h,
d,f),delete l[f]):Z(e,n,d,f),--c.pendingTasks===0&&ae(e,c)}else for(l=0;l<t;l++)o=i!=="backwards"&&i!=="unstable_legacy-\
backwards"?l:t-1-l,f=r[o],n.row=c=mt(c),n.treeContext=an(u,t,o),Z(e,n,f,o),--c.pendingTasks===0&&ae(e,c)}else if(i!=="ba\
ckwards"&&i!=="unstable_legacy-backwards")for(i=0;i<t;i++)l=r[i],n.row=c=mt(c),n.treeContext=an(u,t,i),Z(e,n,l,i),--c.pendingTasks===
0&&ae(e,c);else{for(l=n.blockedSegment,o=l.children.length,f=l.chunks.length,d=0;d<t;d++){h=i==="unstable_legacy-backwar\
ds"?t-1-d:d;var g=r[h];n.row=c=mt(c),n.treeContext=an(u,t,h);var y=Cn(e,f,null,n.formatContext,h===0?l.lastPushedText:!0,
!0);l.children.splice(o,0,y),n.blockedSegment=y;try{Z(e,n,g,h),Tt(y.chunks,e.renderState,y.lastPushedText,y.textEmbedded),
y.status=1,--c.pendingTasks===0&&ae(e,c)}catch(C){throw y.status=e.aborted?3:4,C}}n.blockedSegment=l,l.lastPushedText=!1}
s!==null&&c!==null&&0<c.pendingTasks&&(s.pendingTasks++,c.next=s),n.treeContext=u,n.row=s,n.keyPath=a}function sl(e,n,t,r,i,a){
var u=n.thenableState;for(n.thenableState=null,ze={},ki=n,Mi=e,Ii=t,Rt=Et=0,Ct=-1,Tr=0,jn=u,e=r(i,a);wr;)wr=!1,Rt=Et=0,Ct=
-1,Tr=0,Ir+=1,M=null,e=r(i,a);return At(),e}function fl(e,n,t,r,i,a,u){var s=!1;if(a!==0&&e.formState!==null){var c=n.blockedSegment;
if(c!==null){s=!0,c=c.chunks;for(var l=0;l<a;l++)l===u?c.push("<!--F!-->"):c.push("<!--F-->")}}a=n.keyPath,n.keyPath=t,i?
(t=n.treeContext,n.treeContext=an(t,1,0),Z(e,n,r,-1),n.treeContext=t):s?Z(e,n,r,-1):we(e,n,r,-1),n.keyPath=a}function Er(e,n,t,r,i,a){
if(typeof r=="function")if(r.prototype&&r.prototype.isReactComponent){var u=i;if("ref"in i){u={};for(var s in i)s!=="ref"&&
(u[s]=i[s])}var c=r.defaultProps;if(c){u===i&&(u=pe({},u,i));for(var l in c)u[l]===void 0&&(u[l]=c[l])}var o=u,f=nl,d=r.
contextType;typeof d=="object"&&d!==null&&(f=d._currentValue2);var h=new r(o,f),g=h.state!==void 0?h.state:null;h.updater=
tl,h.props=o,h.state=g;var y={queue:[],replace:!1};h._reactInternals=y;var C=r.contextType;h.context=typeof C=="object"&&
C!==null?C._currentValue2:nl;var T=r.getDerivedStateFromProps;if(typeof T=="function"){var S=T(o,g),D=S==null?g:pe({},g,
S);h.state=D}if(typeof r.getDerivedStateFromProps!="function"&&typeof h.getSnapshotBeforeUpdate!="function"&&(typeof h.UNSAFE_componentWillMount==
"function"||typeof h.componentWillMount=="function")){var H=h.state;if(typeof h.componentWillMount=="function"&&h.componentWillMount(),
typeof h.UNSAFE_componentWillMount=="function"&&h.UNSAFE_componentWillMount(),H!==h.state&&tl.enqueueReplaceState(h,h.state,
null),y.queue!==null&&0<y.queue.length){var P=y.queue,N=y.replace;if(y.queue=null,y.replace=!1,N&&P.length===1)h.state=P[0];else{
for(var I=N?P[0]:h.state,ve=!0,R=N?1:0;R<P.length;R++){var Y=P[R],B=typeof Y=="function"?Y.call(h,I,o,void 0):Y;B!=null&&
(ve?(ve=!1,I=pe({},I,B)):pe(I,B))}h.state=I}}else y.queue=null}var Q=h.render();if(e.aborted)throw null;var F=n.keyPath;
n.keyPath=t,we(e,n,Q,-1),n.keyPath=F}else{var de=sl(e,n,t,r,i,void 0);if(e.aborted)throw null;fl(e,n,t,de,Et!==0,Rt,Ct)}else if(typeof r==
"string"){var W=n.blockedSegment;if(W===null){var Xe=i.children,ye=n.formatContext,G=n.keyPath;n.formatContext=Ga(ye,r,i),
n.keyPath=t,Z(e,n,Xe,-1),n.formatContext=ye,n.keyPath=G}else{var cn=tc(W.chunks,r,i,e.resumableState,e.renderState,n.blockedPreamble,
n.hoistableState,n.formatContext,W.lastPushedText);W.lastPushedText=!1;var K=n.formatContext,_e=n.keyPath;if(n.keyPath=t,
(n.formatContext=Ga(K,r,i)).insertionMode===3){var j=Cn(e,0,null,n.formatContext,!1,!1);W.preambleChildren.push(j),n.blockedSegment=
j;try{Z(e,n,cn,-1),Tt(j.chunks,e.renderState,j.lastPushedText,j.textEmbedded),j.status=1}finally{n.blockedSegment=W}}else
Z(e,n,cn,-1);n.formatContext=K,n.keyPath=_e;e:{var Te=W.chunks,Ee=e.resumableState;switch(r){case"title":case"style":case"\
script":case"area":case"base":case"br":case"col":case"embed":case"hr":case"img":case"input":case"keygen":case"link":case"\
meta":case"param":case"source":case"track":case"wbr":break e;case"body":if(1>=K.insertionMode){Ee.hasBody=!0;break e}break;case"\
html":if(K.insertionMode===0){Ee.hasHtml=!0;break e}break;case"head":if(1>=K.insertionMode)break e}Te.push(Rn(r))}W.lastPushedText=
!1}}else{switch(r){case zu:case wl:case Tl:case ml:var ke=n.keyPath;n.keyPath=t,we(e,n,i.children,-1),n.keyPath=ke;return;case xl:
var U=n.blockedSegment;if(U===null){if(i.mode!=="hidden"){var Ue=n.keyPath;n.keyPath=t,Z(e,n,i.children,-1),n.keyPath=Ue}}else if(i.
mode!=="hidden"){e.renderState.generateStaticMarkup||U.chunks.push("<!--&-->"),U.lastPushedText=!1;var sn=n.keyPath;n.keyPath=
t,Z(e,n,i.children,-1),n.keyPath=sn,e.renderState.generateStaticMarkup||U.chunks.push("<!--/&-->"),U.lastPushedText=!1}return;case Ci:
e:{var Me=i.children,Ze=i.revealOrder;if(Ze!=="independent"&&Ze!=="together"){if(gr(Me)){cl(e,n,t,Me,Ze);break e}var it=El(
Me);if(it){var In=it.call(Me);if(In){var Fn=In.next();if(!Fn.done){do Fn=In.next();while(!Fn.done);cl(e,n,t,Me,Ze)}break e}}}
if(Ze==="together"){var Wt=n.keyPath,Ie=n.row,ne=n.row=mt(null);ne.boundaries=[],ne.together=!0,n.keyPath=t,we(e,n,Me,-1),
--ne.pendingTasks===0&&ae(e,ne),n.keyPath=Wt,n.row=Ie,Ie!==null&&0<ne.pendingTasks&&(Ie.pendingTasks++,ne.next=Ie)}else{
var Gt=n.keyPath;n.keyPath=t,we(e,n,Me,-1),n.keyPath=Gt}}return;case Ni:var at=n.formatContext,fn=n.keyPath,Xt=e.resumableState;
if(i.name==null||i.name==="auto"){var He=Bl(n.treeContext);Sl(Xt,He,0)}if(n.formatContext=at,n.keyPath=t,i.name!=null&&i.
name!=="auto")we(e,n,i.children,-1);else{var Ve=n.treeContext;n.treeContext=an(Ve,1,0),Z(e,n,i.children,-1),n.treeContext=
Ve}n.formatContext=at,n.keyPath=fn;return;case Bu:throw Error(p(343));case Sr:e:if(n.replay!==null){var dn=n.keyPath,Qe=n.
formatContext,hn=n.row;n.keyPath=t,n.formatContext=or(e.resumableState,Qe),n.row=null;var Fe=i.children;try{Z(e,n,Fe,-1)}finally{
n.keyPath=dn,n.formatContext=Qe,n.row=hn}}else{var Ln=n.keyPath,Je=n.formatContext,ue=n.row,lt=n.blockedBoundary,gn=n.blockedPreamble,
Zt=n.hoistableState,Re=n.blockedSegment,ot=i.fallback,Ke=i.children,je=new Set,_=Ui(e,n.row,je,null,!1),Ce=Cn(e,Re.chunks.
length,_,n.formatContext,!1,!1);Re.children.push(Ce),Re.lastPushedText=!1;var Pe=Cn(e,0,null,n.formatContext,!1,!1);Pe.parentFlushed=
!0;var ut=e.trackedPostpones;if(ut!==null){var Un=n.componentStack,Hn=[t[0],"Suspense Fallback",t[2]];if(ut!==null){var Vt=[
Hn[1],Hn[2],[],null];ut.workingMap.set(Hn,Vt),_.tracked={contentKeyPath:t,fallbackNode:Vt}}n.blockedSegment=Ce,n.blockedPreamble=
_.preamble===null?null:_.preamble.fallback,n.keyPath=Hn,n.formatContext=pi(e.resumableState,Je),n.componentStack=Ti(Un);
try{Z(e,n,ot,-1),Tt(Ce.chunks,e.renderState,Ce.lastPushedText,Ce.textEmbedded),Ce.status=1}catch(Le){throw Ce.status=e.aborted?
3:4,Le}finally{n.blockedSegment=Re,n.blockedPreamble=gn,n.keyPath=Ln,n.formatContext=Je}var Qt=xr(e,null,Ke,-1,_,Pe,_.preamble===
null?null:_.preamble.content,_.contentState,n.abortSet,t,or(e.resumableState,n.formatContext),n.context,n.treeContext,null,
Un);Nt(Qt),e.pingedTasks.push(Qt)}else{n.blockedBoundary=_,n.blockedPreamble=_.preamble===null?null:_.preamble.content,n.
hoistableState=_.contentState,n.blockedSegment=Pe,n.keyPath=t,n.formatContext=or(e.resumableState,Je),n.row=null;try{if(Z(
e,n,Ke,-1),Tt(Pe.chunks,e.renderState,Pe.lastPushedText,Pe.textEmbedded),Pe.status=1,St(_,Pe),_.pendingTasks===0&&_.status===
0){if(_.status=1,!et(e,_)){ue!==null&&--ue.pendingTasks===0&&ae(e,ue),e.pendingRootTasks===0&&n.blockedPreamble&&Mt(e);break e}}else
ue!==null&&ue.together&&Pi(e,ue)}catch(Le){if(_.status=4,e.aborted){Pe.status=3;var Ae=e.fatalError}else Pe.status=4,Ae=
Le;var Dn=Nn(n.componentStack),pn=J(e,Ae,Dn);_.errorDigest=pn,Di(e,_)}finally{n.blockedBoundary=lt,n.blockedPreamble=gn,
n.hoistableState=Zt,n.blockedSegment=Re,n.keyPath=Ln,n.formatContext=Je,n.row=ue}var De=xr(e,null,ot,-1,lt,Ce,_.preamble===
null?null:_.preamble.fallback,_.fallbackState,je,[t[0],"Suspense Fallback",t[2]],pi(e.resumableState,n.formatContext),n.
context,n.treeContext,n.row,Ti(n.componentStack));Nt(De),e.pingedTasks.push(De)}}return}if(typeof r=="object"&&r!==null)
switch(r.$$typeof){case Ri:if("ref"in i){var qe={};for(var $e in i)$e!=="ref"&&(qe[$e]=i[$e])}else qe=i;var ct=sl(e,n,t,
r.render,qe,a);fl(e,n,t,ct,Et!==0,Rt,Ct);return;case Ai:Er(e,n,t,r.type,i,a);return;case Nr:var Jt=i.children,Zr=n.keyPath,
Yn=i.value,Kt=r._currentValue2;r._currentValue2=Yn;var en=En,vn={parent:en,depth:en===null?0:en.depth+1,context:r,parentValue:Kt,
value:Yn};En=vn,n.context=vn,n.keyPath=t,we(e,n,Jt,-1);var yn=En;if(yn===null)throw Error(p(403));yn.context._currentValue2=
yn.parentValue;var Bn=En=yn.parent;n.context=Bn,n.keyPath=Zr;return;case Pl:var st=i.children,jt=st(r._context._currentValue2),
qt=n.keyPath;n.keyPath=t,we(e,n,jt,-1),n.keyPath=qt;return;case Or:var Vr=r._init,zn=Vr(r._payload);if(e.aborted)throw null;
Er(e,n,t,zn,i,a);return}throw Error(p(130,r==null?r:typeof r,""))}}function Fr(e,n,t,r,i){var a=n.replay,u=n.blockedBoundary,
s=Cn(e,0,null,n.formatContext,!1,!1);s.id=t,s.parentFlushed=!0;try{n.replay=null,n.blockedSegment=s,Z(e,n,r,i),s.status=
1,u===null?e.completedRootSegment=s:(St(u,s),u.parentFlushed&&e.partialBoundaries.push(u))}finally{n.replay=a,n.blockedSegment=
null}}function we(e,n,t,r){n.replay!==null&&typeof n.replay.slots=="number"?Fr(e,n,n.replay.slots,t,r):(n.node=t,n.childIndex=
r,t=n.componentStack,Nt(n),xi(e,n),n.componentStack=t)}function xi(e,n){var t=n.node,r=n.childIndex;if(t!==null){if(typeof t==
"object"){switch(t.$$typeof){case yl:var i=t.type,a=t.key,u=t.props;t=u.ref;var s=t!==void 0?t:null,c=br(i),l=a==null||a===
Gu?r===-1?0:r:a;if(a=[n.keyPath,c,l],n.replay!==null)e:{var o=n.replay;for(r=o.nodes,t=0;t<r.length;t++){var f=r[t];if(l===
f[1]){if(f.length===4){if(c!==null&&c!==f[0])throw Error(p(490,f[0],c));var d=f[2],h=f[3],g=n.node;n.replay={nodes:d,slots:h,
pendingTasks:1};try{if(Er(e,n,a,i,u,s),n.replay.pendingTasks===1&&0<n.replay.nodes.length)throw Error(p(488));n.replay.pendingTasks--}catch(I){
if(typeof I=="object"&&I!==null&&(I===se||typeof I.then=="function"||I.message==="Maximum call stack size exceeded"))throw n.
node===g?n.replay=o:r.splice(t,1),I;n.replay.pendingTasks--,a=Nn(n.componentStack),g=e,u=n.blockedBoundary,e=e.aborted?e.
fatalError:I,a=J(g,e,a),kt(g,u,d,h,e,a)}n.replay=o}else{if(i!==Sr)throw Error(p(490,"Suspense",br(i)||"Unknown"));n:{o=f[5],
i=f[2],s=f[3],c=f[4]===null?[]:f[4][2],f=f[4]===null?null:f[4][3],l=n.keyPath;var y=n.formatContext,C=n.row,T=n.replay,S=n.
blockedBoundary,D=n.hoistableState,H=u.children;u=u.fallback;var P=new Set,N=Ui(e,n.row,P,null,!1);N.parentFlushed=!0,N.
rootSegmentID=o,n.blockedBoundary=N,n.hoistableState=N.contentState,n.keyPath=a,n.formatContext=or(e.resumableState,y),n.
row=null,n.replay={nodes:i,slots:s,pendingTasks:1};try{if(Z(e,n,H,-1),n.replay.pendingTasks===1&&0<n.replay.nodes.length)
throw Error(p(488));if(n.replay.pendingTasks--,N.pendingTasks===0&&N.status===0){N.status=1,e.completedBoundaries.push(N);
break n}}catch(I){N.status=4,d=e.aborted?e.fatalError:I,h=Nn(n.componentStack),g=J(e,d,h),N.errorDigest=g,n.replay.pendingTasks--,
e.clientRenderedBoundaries.push(N)}finally{n.blockedBoundary=S,n.hoistableState=D,n.replay=T,n.keyPath=l,n.formatContext=
y,n.row=C}d=Zl(e,null,{nodes:c,slots:f,pendingTasks:0},u,-1,S,N.fallbackState,P,[a[0],"Suspense Fallback",a[2]],pi(e.resumableState,
n.formatContext),n.context,n.treeContext,n.row,Ti(n.componentStack)),Nt(d),e.pingedTasks.push(d)}}r.splice(t,1);break e}}}else
Er(e,n,a,i,u,s);return;case bl:throw Error(p(257));case Or:if(d=t._init,t=d(t._payload),e.aborted)throw null;we(e,n,t,r);
return}if(gr(t)){Ei(e,n,t,r);return}if((d=El(t))&&(d=d.call(t))){if(t=d.next(),!t.done){h=[];do h.push(t.value),t=d.next();while(!t.
done);Ei(e,n,h,r)}return}if(typeof t.then=="function")return n.thenableState=null,we(e,n,Gl(t),r);if(t.$$typeof===Nr)return we(
e,n,t._currentValue2,r);throw r=Object.prototype.toString.call(t),Error(p(31,r==="[object Object]"?"object with keys {"+
Object.keys(t).join(", ")+"}":r))}typeof t=="string"?(r=n.blockedSegment,r!==null&&(r.lastPushedText=el(r.chunks,t,e.renderState,
r.lastPushedText))):(typeof t=="number"||typeof t=="bigint")&&(r=n.blockedSegment,r!==null&&(r.lastPushedText=el(r.chunks,
""+t,e.renderState,r.lastPushedText)))}}function Ei(e,n,t,r){var i=n.keyPath;if(r!==-1&&(n.keyPath=[n.keyPath,"Fragment",
r],n.replay!==null)){for(var a=n.replay,u=a.nodes,s=0;s<u.length;s++){var c=u[s];if(c[1]===r){r=c[2],c=c[3],n.replay={nodes:r,
slots:c,pendingTasks:1};try{if(Ei(e,n,t,-1),n.replay.pendingTasks===1&&0<n.replay.nodes.length)throw Error(p(488));n.replay.
pendingTasks--}catch(f){if(typeof f=="object"&&f!==null&&(f===se||typeof f.then=="function"))throw f;n.replay.pendingTasks--;
var l=Nn(n.componentStack);t=e;var o=n.blockedBoundary;e=e.aborted?e.fatalError:f,l=J(t,e,l),kt(t,o,r,c,e,l)}n.replay=a,
u.splice(s,1);break}}n.keyPath=i;return}if(a=n.treeContext,u=t.length,n.replay!==null&&(s=n.replay.slots,s!==null&&typeof s==
"object")){for(r=0;r<u;r++)c=t[r],n.treeContext=an(a,u,r),o=s[r],typeof o=="number"?(Fr(e,n,o,c,r),delete s[r]):Z(e,n,c,
r);n.treeContext=a,n.keyPath=i;return}for(s=0;s<u;s++)r=t[s],n.treeContext=an(a,u,s),Z(e,n,r,s);n.treeContext=a,n.keyPath=
i}function Vl(e,n,t){t.status=5,t.rootSegmentID=e.nextSegmentId++;var r=t.tracked;if(r===null||(e=r.contentKeyPath,e===null))
throw Error(p(486));r=r.fallbackNode;var i=[],a=n.workingMap.get(e);return a===void 0?(t=[e[1],e[2],i,null,r,t.rootSegmentID],
n.workingMap.set(e,t),Ar(t,e[0],n),t):(a[4]=r,a[5]=t.rootSegmentID,a)}function dl(e,n,t,r){r.status=5;var i=t.keyPath,a=t.
blockedBoundary;if(a===null)r.id=e.nextSegmentId++,n.rootSlots=r.id,e.completedRootSegment!==null&&(e.completedRootSegment.
status=5);else{if(a!==null&&a.status===0){var u=Vl(e,n,a);if(a.tracked!==null&&a.tracked.contentKeyPath===i&&t.childIndex===
-1){r.id===-1&&(r.id=r.parentFlushed?a.rootSegmentID:e.nextSegmentId++),u[3]=r.id;return}}if(r.id===-1&&(r.id=r.parentFlushed&&
a!==null?a.rootSegmentID:e.nextSegmentId++),t.childIndex===-1)i===null?n.rootSlots=r.id:(t=n.workingMap.get(i),t===void 0?
(t=[i[1],i[2],[],r.id],Ar(t,i[0],n)):t[3]=r.id);else{if(i===null){if(e=n.rootSlots,e===null)e=n.rootSlots={};else if(typeof e==
"number")throw Error(p(491))}else if(a=n.workingMap,u=a.get(i),u===void 0)e={},u=[i[1],i[2],[],e],a.set(i,u),Ar(u,i[0],n);else if(e=
u[3],e===null)e=u[3]={};else if(typeof e=="number")throw Error(p(491));e[t.childIndex]=r.id}}}function Di(e,n){e=e.trackedPostpones,
e!==null&&(n=n.tracked,n!==null&&(n=n.contentKeyPath,n!==null&&(e=e.workingMap.get(n),e!==void 0&&(e.length=4,e[2]=[],e[3]=
null))))}function hl(e,n,t){return Zl(e,t,n.replay,n.node,n.childIndex,n.blockedBoundary,n.hoistableState,n.abortSet,n.keyPath,
n.formatContext,n.context,n.treeContext,n.row,n.componentStack)}function gl(e,n,t){var r=n.blockedSegment,i=Cn(e,r.chunks.
length,null,n.formatContext,r.lastPushedText,!0);return r.children.push(i),r.lastPushedText=!1,xr(e,t,n.node,n.childIndex,
n.blockedBoundary,i,n.blockedPreamble,n.hoistableState,n.abortSet,n.keyPath,n.formatContext,n.context,n.treeContext,n.row,
n.componentStack)}function Z(e,n,t,r){var i=n.formatContext,a=n.context,u=n.keyPath,s=n.treeContext,c=n.componentStack,l=n.
blockedSegment;if(l===null){l=n.replay;try{return we(e,n,t,r)}catch(d){if(At(),t=d===se?mr():d,!e.aborted&&typeof t=="ob\
ject"&&t!==null){if(typeof t.then=="function"){r=d===se?on():null,e=hl(e,n,r).ping,t.then(e.resolve,e.reject),n.formatContext=
i,n.context=a,n.keyPath=u,n.treeContext=s,n.componentStack=c,n.replay=l,tn(a);return}if(t.message==="Maximum call stack \
size exceeded"){t=d===se?on():null,t=hl(e,n,t),e.pingedTasks.push(t),n.formatContext=i,n.context=a,n.keyPath=u,n.treeContext=
s,n.componentStack=c,n.replay=l,tn(a);return}}}}else{var o=l.children.length,f=l.chunks.length;try{return we(e,n,t,r)}catch(d){
if(At(),l.children.length=o,l.chunks.length=f,t=d===se?mr():d,!e.aborted&&typeof t=="object"&&t!==null){if(typeof t.then==
"function"){l=t,t=d===se?on():null,e=gl(e,n,t).ping,l.then(e.resolve,e.reject),n.formatContext=i,n.context=a,n.keyPath=u,
n.treeContext=s,n.componentStack=c,tn(a);return}if(t.message==="Maximum call stack size exceeded"){l=d===se?on():null,l=
gl(e,n,l),e.pingedTasks.push(l),n.formatContext=i,n.context=a,n.keyPath=u,n.treeContext=s,n.componentStack=c,tn(a);return}}}}
throw n.formatContext=i,n.context=a,n.keyPath=u,n.treeContext=s,tn(a),t}function Gc(e){var n=e.blockedBoundary,t=e.blockedSegment;
t!==null&&(t.status=3,On(this,n,e.row,t))}function kt(e,n,t,r,i,a){for(var u=0;u<t.length;u++){var s=t[u];if(s.length===
4)kt(e,n,s[2],s[3],i,a);else{s=s[5];var c=e,l=a,o=Ui(c,null,new Set,null,!1);o.parentFlushed=!0,o.rootSegmentID=s,o.status=
4,o.errorDigest=l,o.parentFlushed&&c.clientRenderedBoundaries.push(o)}}if(t.length=0,r!==null){if(n===null)throw Error(p(
487));if(n.status!==4&&(n.status=4,n.errorDigest=a,n.parentFlushed&&e.clientRenderedBoundaries.push(n)),typeof r=="objec\
t")for(var f in r)delete r[f]}}function Rr(e,n){if(e!==n.currentTask){var t=e.blockedBoundary;e=e.blockedSegment,e!==null&&
(e.status=3),t!==null&&t.fallbackAbortableTasks.forEach(function(r){return Rr(r,n)})}}function Sn(e,n,t){if(e!==n.currentTask){
var r=e.blockedBoundary,i=e.blockedSegment;if(i===null||i.status===3){var a=Nn(e.componentStack),u=Mr(t);if(r===null){if(r=
e.replay,r===null){u||n.trackedPostpones===null||i===null?u?(e=Fi(t),J(n,e,a),n.status!==12&&n.status!==13&&An(n,e)):(J(
n,t,a),n.status!==12&&n.status!==13&&An(n,t)):(r=n.trackedPostpones,J(n,t,a),dl(n,r,e,i),On(n,null,e.row,i));return}n.status!==
12&&n.status!==13&&(r.pendingTasks--,r.pendingTasks===0&&0<r.nodes.length&&(a=J(n,t,a),kt(n,null,r.nodes,r.slots,t,a)),n.
pendingRootTasks--,n.pendingRootTasks===0&&Bi(n))}else{var s=n.trackedPostpones;if(r.status!==4){if(!u&&s!==null&&i!==null)
return J(n,t,a),dl(n,s,e,i),r.fallbackAbortableTasks.forEach(function(c){return Sn(c,n,t)}),r.fallbackAbortableTasks.clear(),
On(n,r,e.row,i);r.status=4,a=J(n,t,a),r.errorDigest=a,Di(n,r),r.parentFlushed&&n.clientRenderedBoundaries.push(r)}r.pendingTasks--,
a=r.row,a!==null&&--a.pendingTasks===0&&ae(n,a),r.fallbackAbortableTasks.forEach(function(c){return Sn(c,n,t)}),r.fallbackAbortableTasks.
clear()}e=e.row,e!==null&&--e.pendingTasks===0&&ae(n,e),n.allPendingTasks--,n.allPendingTasks===0&&Cr(n)}}}function Yi(e,n){
try{var t=e.renderState,r=t.onHeaders;if(r){var i=t.headers;if(i){t.headers=null;var a=i.preconnects;if(i.fontPreloads&&
(a&&(a+=", "),a+=i.fontPreloads),i.highImagePreloads&&(a&&(a+=", "),a+=i.highImagePreloads),!n){var u=t.styles.values(),
s=u.next();e:for(;0<i.remainingCapacity&&!s.done;s=u.next())for(var c=s.value.sheets.values(),l=c.next();0<i.remainingCapacity&&
!l.done;l=c.next()){var o=l.value,f=o.props,d=f.href,h=o.props,g=yr(h.href,"style",{crossOrigin:h.crossOrigin,integrity:h.
integrity,nonce:h.nonce,type:h.type,fetchPriority:h.fetchPriority,referrerPolicy:h.referrerPolicy,media:h.media});if(0<=
(i.remainingCapacity-=g.length+2))t.resets.style[d]=xe,a&&(a+=", "),a+=g,t.resets.style[d]=typeof f.crossOrigin=="string"||
typeof f.integrity=="string"?[f.crossOrigin,f.integrity]:xe;else break e}}r(a?{Link:a}:{})}}}catch(y){J(e,y,{})}}function Bi(e){
e.trackedPostpones===null&&Yi(e,!0),e.trackedPostpones===null&&Mt(e),e=e.onShellReady,e()}function Cr(e){Yi(e,e.trackedPostpones===
null?!0:e.completedRootSegment===null||e.completedRootSegment.status!==5),Mt(e),e=e.onAllReady,e()}function St(e,n){if(n.
chunks.length===0&&n.children.length===1&&n.children[0].boundary===null&&n.children[0].id===-1){var t=n.children[0];t.id=
n.id,t.parentFlushed=!0,t.status!==1&&t.status!==3&&t.status!==4||St(e,t)}else e.completedSegments.push(n)}function On(e,n,t,r){
if(t!==null&&(--t.pendingTasks===0?ae(e,t):t.together&&Pi(e,t)),e.allPendingTasks--,n===null){if(r!==null&&r.parentFlushed){
if(e.completedRootSegment!==null)throw Error(p(389));e.completedRootSegment=r}e.pendingRootTasks--,e.pendingRootTasks===
0&&Bi(e)}else if(n.pendingTasks--,n.status!==4)if(n.pendingTasks===0){if(n.status===0&&(n.status=1),r!==null&&r.parentFlushed&&
(r.status===1||r.status===3)&&St(n,r),n.parentFlushed&&e.completedBoundaries.push(n),n.status===1)t=n.row,t!==null&&$n(t.
hoistables,n.contentState),et(e,n)||(e.allPendingTasks++,n.fallbackAbortableTasks.forEach(Gc,e),n.fallbackAbortableTasks.
clear(),t!==null&&--t.pendingTasks===0&&ae(e,t),e.allPendingTasks--),e.pendingRootTasks===0&&e.trackedPostpones===null&&
n.preamble!==null&&Mt(e);else if(n.status===5&&(n=n.row,n!==null)){if(e.trackedPostpones!==null){t=e.trackedPostpones;var i=n.
next;if(i!==null&&(r=i.boundaries,r!==null))for(i.boundaries=null,i=0;i<r.length;i++){var a=r[i];Vl(e,t,a),On(e,a,null,null)}}
e.allPendingTasks++,--n.pendingTasks===0&&ae(e,n),e.allPendingTasks--}}else r===null||!r.parentFlushed||r.status!==1&&r.
status!==3||(St(n,r),n.completedSegments.length===1&&n.parentFlushed&&e.partialBoundaries.push(n)),n=n.row,n!==null&&n.together&&
Pi(e,n);e.allPendingTasks===0&&Cr(e)}function Ql(e){if(!(e.aborted||11<e.status)){var n=En,t=Jn.H;Jn.H=ol;var r=Jn.A;Jn.
A=Yc;var i=ee;ee=e;var a=dr;dr=e.resumableState;try{var u=e.pingedTasks,s;for(s=0;s<u.length;s++){var c=u[s],l=e,o=c.blockedSegment;
if(o===null){e:if(c.replay.pendingTasks!==0){var f=l.currentTask;l.currentTask=c,tn(c.context);var d=c.node;try{if(typeof c.
replay.slots=="number"?Fr(l,c,c.replay.slots,c.node,c.childIndex):xi(l,c),c.replay.pendingTasks===1&&0<c.replay.nodes.length)
throw Error(p(488));c.replay.pendingTasks--,c.abortSet.delete(c),On(l,c.blockedBoundary,c.row,null)}catch(G){At();var h=G===
se?mr():G;if(l.aborted){G===se&&(c.thenableState=on()),l.currentTask=f;var g=l;Rr(c,g),c.abortSet.delete(c),Sn(c,g,g.fatalError)}else{
if(typeof h=="object"&&h!==null){if(typeof h.then=="function"){var y=c.ping;h.then(y.resolve,y.reject),c.thenableState=G===
se?on():null;break e}if(h.message==="Maximum call stack size exceeded"&&c.node!==d){c.thenableState=null,l.pingedTasks.push(
c);break e}}c.replay.pendingTasks--,c.abortSet.delete(c);var C=Nn(c.componentStack);g=l;var T=c.blockedBoundary,S=l.aborted?
l.fatalError:h,D=c.replay.nodes,H=c.replay.slots,P=J(g,S,C);kt(g,T,D,H,S,P),l.pendingRootTasks--,l.pendingRootTasks===0&&
Bi(l),l.allPendingTasks--,l.allPendingTasks===0&&Cr(l)}}finally{l.currentTask=f}}}else e:if(g=o,g.status===0){var N=l.currentTask;
l.currentTask=c,tn(c.context);var I=g.children.length,ve=g.chunks.length,R=c.node;try{xi(l,c),Tt(g.chunks,l.renderState,
g.lastPushedText,g.textEmbedded),c.abortSet.delete(c),g.status=1,On(l,c.blockedBoundary,c.row,g)}catch(G){At(),g.children.
length=I,g.chunks.length=ve;var Y=G===se?mr():G;if(l.aborted)G===se&&(c.thenableState=on()),l.currentTask=N,g=l,Rr(c,g),
c.abortSet.delete(c),Sn(c,g,g.fatalError);else{if(typeof Y=="object"&&Y!==null){if(typeof Y.then=="function"){g.status=0,
c.thenableState=G===se?on():null;var B=c.ping;Y.then(B.resolve,B.reject);break e}if(Y.message==="Maximum call stack size\
 exceeded"&&c.node!==R){g.status=0,c.thenableState=null,l.pingedTasks.push(c);break e}}var Q=Nn(c.componentStack);c.abortSet.
delete(c),g.status=4;var F=c.blockedBoundary,de=c.row;if(de!==null&&--de.pendingTasks===0&&ae(l,de),l.allPendingTasks--,
F===null)if(Mr(Y)){var W=Fi(Y);J(l,W,Q),An(l,W)}else J(l,Y,Q),An(l,Y);else{var Xe=J(l,Y,Q);if(F.pendingTasks--,F.status!==
4){F.status=4,F.errorDigest=Xe,Di(l,F);var ye=F.row;ye!==null&&(l.allPendingTasks++,--ye.pendingTasks===0&&ae(l,ye),l.allPendingTasks--),
F.parentFlushed&&l.clientRenderedBoundaries.push(F),l.pendingRootTasks===0&&l.trackedPostpones===null&&F.preamble!==null&&
Mt(l)}l.allPendingTasks===0&&Cr(l)}}}finally{l.currentTask=N}}}u.splice(0,s),e.destination!==null&&Lr(e,e.destination)}catch(G){
J(e,G,{}),An(e,G)}finally{dr=a,Jn.H=t,Jn.A=r,t===ol&&tn(n),ee=i}}}function hi(e,n,t){n.preambleChildren.length&&t.push(n.
preambleChildren);for(var r=!1,i=0;i<n.children.length;i++)r=Jl(e,n.children[i],t)||r;return r}function Jl(e,n,t){var r=n.
boundary;if(r===null)return hi(e,n,t);var i=r.preamble;if(i===null)return!1;switch(r.status){case 1:if(qa(e.renderState,
i.content),e.byteSize+=r.byteSize,n=r.completedSegments[0],!n)throw Error(p(391));return hi(e,n,t);case 5:if(e.trackedPostpones!==
null)return!0;case 4:if(n.status===1)return qa(e.renderState,i.fallback),hi(e,n,t);default:return!0}}function Mt(e){if(e.
completedRootSegment&&e.completedPreambleSegments===null){var n=[],t=e.byteSize,r=Jl(e,e.completedRootSegment,n),i=e.renderState.
preamble;r===!1||i.headChunks&&i.bodyChunks?e.completedPreambleSegments=n:e.byteSize=t}}function lr(e,n,t,r){switch(t.parentFlushed=
!0,t.status){case 0:t.id=e.nextSegmentId++;case 5:return r=t.id,t.lastPushedText=!1,t.textEmbedded=!1,e=e.renderState,n.
push('<template id="'),n.push(e.placeholderPrefix),e=r.toString(16),n.push(e),n.push('"></template>');case 1:t.status=2;
var i=!0,a=t.chunks,u=0;t=t.children;for(var s=0;s<t.length;s++){for(i=t[s];u<i.index;u++)n.push(a[u]);i=_t(e,n,i,r)}for(;u<
a.length-1;u++)n.push(a[u]);return u<a.length&&(i=n.push(a[u])),i;case 3:return!0;default:throw Error(p(390))}}var Ot=0;
function _t(e,n,t,r){var i=t.boundary;if(i===null)return lr(e,n,t,r);if(t.boundary=null,i.parentFlushed=!0,i.status===4){
var a=i.row;return a!==null&&--a.pendingTasks===0&&ae(e,a),e.renderState.generateStaticMarkup||(i=i.errorDigest,n.push("\
<!--$!-->"),n.push("<template"),i!=null&&(n.push(' data-dgst="'),i=x(i),n.push(i),n.push('"')),n.push("></template>")),lr(
e,n,t,r),e=e.renderState.generateStaticMarkup?!0:n.push("<!--/$-->"),e}if(i.status!==1)return i.status===0&&(i.rootSegmentID=
e.nextSegmentId++),0<i.completedSegments.length&&e.partialBoundaries.push(i),$a(n,e.renderState,i.rootSegmentID),r&&$n(r,
i.fallbackState),lr(e,n,t,r),n.push("<!--/$-->");if(!hr&&et(e,i)&&(Ot+i.byteSize>e.progressiveChunkSize||i.defer))return i.
rootSegmentID=e.nextSegmentId++,e.completedBoundaries.push(i),$a(n,e.renderState,i.rootSegmentID),lr(e,n,t,r),n.push("<!\
--/$-->");if(Ot+=i.byteSize,r&&$n(r,i.contentState),t=i.row,t!==null&&et(e,i)&&--t.pendingTasks===0&&ae(e,t),e.renderState.
generateStaticMarkup||n.push("<!--$-->"),t=i.completedSegments,t.length!==1)throw Error(p(391));return _t(e,n,t[0],r),e=
e.renderState.generateStaticMarkup?!0:n.push("<!--/$-->"),e}function gi(e,n,t,r){return rc(n,e.renderState,t.parentFormatContext,
t.id),_t(e,n,t,r),ic(n,t.parentFormatContext)}function pl(e,n,t){Ot=t.byteSize;for(var r=t.completedSegments,i=0;i<r.length;i++)
Kl(e,n,t,r[i]);r.length=0,r=t.row,r!==null&&et(e,t)&&--r.pendingTasks===0&&ae(e,r),Ll(n,t.contentState,e.renderState),r=
e.resumableState,e=e.renderState,i=t.rootSegmentID,t=t.contentState;var a=e.stylesToHoist,u=(r.instructions&128)!==0;return e.
stylesToHoist=!1,n.push(e.startInlineScript),n.push(">"),a?((r.instructions&4)===0&&(r.instructions|=4,n.push('$RX=funct\
ion(b,c,d,e,f){var a=document.getElementById(b);a&&(b=a.previousSibling,b.data="$!",a=a.dataset,null!=c&&(a.dgst=c),d&&(\
a.msg=d),e&&(a.stck=e),f&&(a.cstck=f),b._reactRetry&&b._reactRetry())};')),(r.instructions&2)===0&&(r.instructions|=2,n.
push(`$RB=[];$RV=function(a){$RT=performance.now();for(var b=0;b<a.length;b+=2){var c=a[b],e=a[b+1];null!==e.parentNode&\
&e.parentNode.removeChild(e);var f=c.parentNode;if(f){var g=c.previousSibling,h=0;do{if(c&&8===c.nodeType){var d=c.data;\
if("/$"===d||"/&"===d)if(0===h)break;else h--;else"$"!==d&&"$?"!==d&&"$~"!==d&&"$!"!==d&&"&"!==d||h++}d=c.nextSibling;f.\
removeChild(c);c=d}while(c);for(;e.firstChild;)f.insertBefore(e.firstChild,c);g.data="$";g._reactRetry&&requestAnimation\
Frame(g._reactRetry)}}a.length=0};
$RC=function(a,b){if(b=document.getElementById(b))(a=document.getElementById(a))?(a.previousSibling.data="$~",$RB.push(a\
,b),2===$RB.length&&("number"!==typeof $RT?requestAnimationFrame($RV.bind(null,$RB)):(a=performance.now(),setTimeout($RV\
.bind(null,$RB),2300>a&&2E3<a?2300-a:$RT+300-a)))):b.parentNode.removeChild(b)};`)),u&&(r.instructions&256)===0&&(r.instructions|=
256,n.push(`$RV=function(B,g){function h(a,c){var e=a.getAttribute(c);e&&(c=a.style,l.push(a,c.viewTransitionName,c.view\
TransitionClass),"auto"!==e&&(c.viewTransitionClass=e),(a=a.getAttribute("vt-name"))||(a="_T_"+N++ +"_"),a=CSS.escape(a)\
!==a?"r-"+btoa(a).replace(/=/g,""):a,c.viewTransitionName=a,C=!0)}var C=!1,N=0,l=[];try{var f=document.__reactViewTransi\
tion;if(f){f.finished.finally($RV.bind(null,g));return}var m=new Map;for(f=1;f<g.length;f+=2)for(var k=g[f].querySelecto\
rAll("[vt-share]"),d=0;d<k.length;d++){var b=k[d];m.set(b.getAttribute("vt-name"),b)}var u=[];for(k=0;k<g.length;k+=2){v\
ar D=g[k],x=D.parentNode;if(x){var v=x.getBoundingClientRect();if(v.left||v.top||v.width||v.height){b=D;for(f=0;b;){if(8\
===b.nodeType){var t=b.data;if("/$"===t)if(0===f)break;else f--;else"$"!==t&&"$?"!==t&&"$~"!==t&&"$!"!==t||f++}else if(1\
===b.nodeType){d=b;var E=d.getAttribute("vt-name"),y=m.get(E);h(d,y?"vt-share":"vt-exit");y&&(h(y,"vt-share"),m.set(E,nu\
ll));for(var F=d.querySelectorAll("[vt-share]"),
z=0;z<F.length;z++){var G=F[z],H=G.getAttribute("vt-name"),I=m.get(H);I&&(h(G,"vt-share"),h(I,"vt-share"),m.set(H,null))\
}var J=d.querySelectorAll("[vt-parent-exit]");for(d=0;d<J.length;d++)h(J[d],"vt-parent-exit")}b=b.nextSibling}for(var K=\
g[k+1],n=K.firstElementChild;n;){null!==m.get(n.getAttribute("vt-name"))&&h(n,"vt-enter");var L=n.querySelectorAll("[vt-\
parent-enter]");for(b=0;b<L.length;b++)h(L[b],"vt-parent-enter");n=n.nextElementSibling}b=x;do for(var p=b.firstElementC\
hild;p;){var M=p.getAttribute("vt-update");
M&&"none"!==M&&!l.includes(p)&&h(p,"vt-update");p=p.nextElementSibling}while((b=b.parentNode)&&1===b.nodeType&&"none"!==\
b.getAttribute("vt-update"));u.push.apply(u,K.querySelectorAll('img[src]:not([loading="lazy"])'))}}}if(C){var A=document\
.__reactViewTransition=document.startViewTransition({update:function(){B(g);for(var a=[document.documentElement.clientHe\
ight,document.fonts.ready],c={},e=0;e<u.length;c={g:c.g},e++)if(c.g=u[e],!c.g.complete){var q=c.g.getBoundingClientRect(\
);0<q.bottom&&0<q.right&&
q.top<window.innerHeight&&q.left<window.innerWidth&&(q=new Promise(function(w){return function(r){w.g.addEventListener("\
load",r);w.g.addEventListener("error",r)}}(c)),a.push(q))}return Promise.race([Promise.all(a),new Promise(function(w){va\
r r=performance.now();setTimeout(w,2300>r&&2E3<r?2300-r:500)})])},types:[]});A.ready.finally(function(){for(var a=l.leng\
th-3;0<=a;a-=3){var c=l[a],e=c.style;e.viewTransitionName=l[a+1];e.viewTransitionClass=l[a+1];""===c.getAttribute("style\
")&&c.removeAttribute("style")}});
A.finished.finally(function(){document.__reactViewTransition===A&&(document.__reactViewTransition=null)});$RB=[];return}\
}catch(a){}B(g)}.bind(null,$RV);`)),(r.instructions&8)===0?(r.instructions|=8,n.push(`$RM=new Map;$RR=function(n,w,p){fu\
nction u(q){this._p=null;q()}for(var r=new Map,t=document,h,b,e=t.querySelectorAll("link[data-precedence],style[data-pre\
cedence]"),v=[],k=0;b=e[k++];)"not all"===b.getAttribute("media")?v.push(b):("LINK"===b.tagName&&$RM.set(b.getAttribute(\
"href"),b),r.set(b.dataset.precedence,h=b));e=0;b=[];var l,a;for(k=!0;;){if(k){var f=p[e++];if(!f){k=!1;e=0;continue}var\
 c=!1,m=0;var d=f[m++];if(a=$RM.get(d)){var g=a._p;c=!0}else{a=t.createElement("link");a.href=d;a.rel=
"stylesheet";for(a.dataset.precedence=l=f[m++];g=f[m++];)a.setAttribute(g,f[m++]);g=a._p=new Promise(function(q,x){a.onl\
oad=u.bind(a,q);a.onerror=u.bind(a,x)});$RM.set(d,a)}d=a.getAttribute("media");!g||d&&!matchMedia(d).matches||b.push(g);\
if(c)continue}else{a=v[e++];if(!a)break;l=a.getAttribute("data-precedence");a.removeAttribute("media")}c=r.get(l)||h;c==\
=h&&(h=a);r.set(l,a);c?c.parentNode.insertBefore(a,c.nextSibling):(c=t.head,c.insertBefore(a,c.firstChild))}if(p=documen\
t.getElementById(n))p.previousSibling.data=
"$~";Promise.all(b).then($RC.bind(null,n,w),$RX.bind(null,n,"CSS failed to load"))};$RR("`)):n.push('$RR("')):((r.instructions&
2)===0&&(r.instructions|=2,n.push(`$RB=[];$RV=function(a){$RT=performance.now();for(var b=0;b<a.length;b+=2){var c=a[b],\
e=a[b+1];null!==e.parentNode&&e.parentNode.removeChild(e);var f=c.parentNode;if(f){var g=c.previousSibling,h=0;do{if(c&&\
8===c.nodeType){var d=c.data;if("/$"===d||"/&"===d)if(0===h)break;else h--;else"$"!==d&&"$?"!==d&&"$~"!==d&&"$!"!==d&&"&\
"!==d||h++}d=c.nextSibling;f.removeChild(c);c=d}while(c);for(;e.firstChild;)f.insertBefore(e.firstChild,c);g.data="$";g.\
_reactRetry&&requestAnimationFrame(g._reactRetry)}}a.length=0};
$RC=function(a,b){if(b=document.getElementById(b))(a=document.getElementById(a))?(a.previousSibling.data="$~",$RB.push(a\
,b),2===$RB.length&&("number"!==typeof $RT?requestAnimationFrame($RV.bind(null,$RB)):(a=performance.now(),setTimeout($RV\
.bind(null,$RB),2300>a&&2E3<a?2300-a:$RT+300-a)))):b.parentNode.removeChild(b)};`)),u&&(r.instructions&256)===0&&(r.instructions|=
256,n.push(`$RV=function(B,g){function h(a,c){var e=a.getAttribute(c);e&&(c=a.style,l.push(a,c.viewTransitionName,c.view\
TransitionClass),"auto"!==e&&(c.viewTransitionClass=e),(a=a.getAttribute("vt-name"))||(a="_T_"+N++ +"_"),a=CSS.escape(a)\
!==a?"r-"+btoa(a).replace(/=/g,""):a,c.viewTransitionName=a,C=!0)}var C=!1,N=0,l=[];try{var f=document.__reactViewTransi\
tion;if(f){f.finished.finally($RV.bind(null,g));return}var m=new Map;for(f=1;f<g.length;f+=2)for(var k=g[f].querySelecto\
rAll("[vt-share]"),d=0;d<k.length;d++){var b=k[d];m.set(b.getAttribute("vt-name"),b)}var u=[];for(k=0;k<g.length;k+=2){v\
ar D=g[k],x=D.parentNode;if(x){var v=x.getBoundingClientRect();if(v.left||v.top||v.width||v.height){b=D;for(f=0;b;){if(8\
===b.nodeType){var t=b.data;if("/$"===t)if(0===f)break;else f--;else"$"!==t&&"$?"!==t&&"$~"!==t&&"$!"!==t||f++}else if(1\
===b.nodeType){d=b;var E=d.getAttribute("vt-name"),y=m.get(E);h(d,y?"vt-share":"vt-exit");y&&(h(y,"vt-share"),m.set(E,nu\
ll));for(var F=d.querySelectorAll("[vt-share]"),
z=0;z<F.length;z++){var G=F[z],H=G.getAttribute("vt-name"),I=m.get(H);I&&(h(G,"vt-share"),h(I,"vt-share"),m.set(H,null))\
}var J=d.querySelectorAll("[vt-parent-exit]");for(d=0;d<J.length;d++)h(J[d],"vt-parent-exit")}b=b.nextSibling}for(var K=\
g[k+1],n=K.firstElementChild;n;){null!==m.get(n.getAttribute("vt-name"))&&h(n,"vt-enter");var L=n.querySelectorAll("[vt-\
parent-enter]");for(b=0;b<L.length;b++)h(L[b],"vt-parent-enter");n=n.nextElementSibling}b=x;do for(var p=b.firstElementC\
hild;p;){var M=p.getAttribute("vt-update");
M&&"none"!==M&&!l.includes(p)&&h(p,"vt-update");p=p.nextElementSibling}while((b=b.parentNode)&&1===b.nodeType&&"none"!==\
b.getAttribute("vt-update"));u.push.apply(u,K.querySelectorAll('img[src]:not([loading="lazy"])'))}}}if(C){var A=document\
.__reactViewTransition=document.startViewTransition({update:function(){B(g);for(var a=[document.documentElement.clientHe\
ight,document.fonts.ready],c={},e=0;e<u.length;c={g:c.g},e++)if(c.g=u[e],!c.g.complete){var q=c.g.getBoundingClientRect(\
);0<q.bottom&&0<q.right&&
q.top<window.innerHeight&&q.left<window.innerWidth&&(q=new Promise(function(w){return function(r){w.g.addEventListener("\
load",r);w.g.addEventListener("error",r)}}(c)),a.push(q))}return Promise.race([Promise.all(a),new Promise(function(w){va\
r r=performance.now();setTimeout(w,2300>r&&2E3<r?2300-r:500)})])},types:[]});A.ready.finally(function(){for(var a=l.leng\
th-3;0<=a;a-=3){var c=l[a],e=c.style;e.viewTransitionName=l[a+1];e.viewTransitionClass=l[a+1];""===c.getAttribute("style\
")&&c.removeAttribute("style")}});
A.finished.finally(function(){document.__reactViewTransition===A&&(document.__reactViewTransition=null)});$RB=[];return}\
}catch(a){}B(g)}.bind(null,$RV);`)),n.push('$RC("')),r=i.toString(16),n.push(e.boundaryPrefix),n.push(r),n.push('","'),n.
push(e.segmentPrefix),n.push(r),a?(n.push('",'),gc(n,t)):n.push('"'),t=n.push(")</script>"),Fl(n,e)&&t}function Kl(e,n,t,r){
if(r.status===2)return!0;var i=t.contentState,a=r.id;if(a===-1){if((r.id=t.rootSegmentID)===-1)throw Error(p(392));return gi(
e,n,r,i)}return a===t.rootSegmentID?gi(e,n,r,i):(gi(e,n,r,i),t=e.resumableState,e=e.renderState,n.push(e.startInlineScript),
n.push(">"),(t.instructions&1)===0?(t.instructions|=1,n.push('$RS=function(a,b){a=document.getElementById(a);b=document.\
getElementById(b);for(a.parentNode.removeChild(a);a.firstChild;)b.parentNode.insertBefore(a.firstChild,b);b.parentNode.r\
emoveChild(b)};$RS("')):n.push('$RS("'),n.push(e.segmentPrefix),a=a.toString(16),n.push(a),n.push('","'),n.push(e.placeholderPrefix),
n.push(a),n=n.push('")</script>'),n)}var hr=!1;function Lr(e,n){try{if(!(0<e.pendingRootTasks)){var t,r=e.completedRootSegment;
if(r!==null){if(r.status===5)return;var i=e.completedPreambleSegments;if(i===null)return;Ot=e.byteSize;var a=e.resumableState,
u=e.renderState,s=u.preamble,c=s.htmlChunks,l=s.headChunks,o;if(c){for(o=0;o<c.length;o++)n.push(c[o]);if(l)for(o=0;o<l.
length;o++)n.push(l[o]);else{var f=X("head");n.push(f),n.push(">")}}else if(l)for(o=0;o<l.length;o++)n.push(l[o]);var d=u.
charsetChunks;for(o=0;o<d.length;o++)n.push(d[o]);d.length=0,u.preconnects.forEach(Se,n),u.preconnects.clear();var h=u.viewportChunks;
for(o=0;o<h.length;o++)n.push(h[o]);h.length=0,u.fontPreloads.forEach(Se,n),u.fontPreloads.clear(),u.highImagePreloads.forEach(
Se,n),u.highImagePreloads.clear(),qn=u,u.styles.forEach(fc,n),qn=null;var g=u.importMapChunks;for(o=0;o<g.length;o++)n.push(
g[o]);g.length=0,u.bootstrapScripts.forEach(Se,n),u.scripts.forEach(Se,n),u.scripts.clear(),u.bulkPreloads.forEach(Se,n),
u.bulkPreloads.clear(),a.instructions|=32;var y=u.hoistableChunks;for(o=0;o<y.length;o++)n.push(y[o]);for(a=y.length=0;a<
i.length;a++){var C=i[a];for(u=0;u<C.length;u++)_t(e,n,C[u],null)}var T=e.renderState.preamble,S=T.headChunks;if(T.htmlChunks||
S){var D=Rn("head");n.push(D)}var H=T.bodyChunks;if(H)for(i=0;i<H.length;i++)n.push(H[i]);_t(e,n,r,null),e.completedRootSegment=
null;var P=e.renderState;if(e.allPendingTasks!==0||e.clientRenderedBoundaries.length!==0||e.completedBoundaries.length!==
0||e.trackedPostpones!==null&&(e.trackedPostpones.rootNodes.length!==0||e.trackedPostpones.rootSlots!==null)){var N=e.resumableState;
if((N.instructions&64)===0){if(N.instructions|=64,n.push(P.startInlineScript),(N.instructions&32)===0){N.instructions|=32;
var I="_"+N.idPrefix+"R_";n.push(' id="');var ve=x(I);n.push(ve),n.push('"')}n.push(">"),n.push("requestAnimationFrame(f\
unction(){$RT=performance.now()});"),n.push("</script>")}}Fl(n,P)}var R=e.renderState;r=0;var Y=R.viewportChunks;for(r=0;r<
Y.length;r++)n.push(Y[r]);Y.length=0,R.preconnects.forEach(Se,n),R.preconnects.clear(),R.fontPreloads.forEach(Se,n),R.fontPreloads.
clear(),R.highImagePreloads.forEach(Se,n),R.highImagePreloads.clear(),R.styles.forEach(hc,n),R.scripts.forEach(Se,n),R.scripts.
clear(),R.bulkPreloads.forEach(Se,n),R.bulkPreloads.clear();var B=R.hoistableChunks;for(r=0;r<B.length;r++)n.push(B[r]);
B.length=0;var Q=e.clientRenderedBoundaries;for(t=0;t<Q.length;t++){var F=Q[t];R=n;var de=e.resumableState,W=e.renderState,
Xe=F.rootSegmentID,ye=F.errorDigest;R.push(W.startInlineScript),R.push(">"),(de.instructions&4)===0?(de.instructions|=4,
R.push('$RX=function(b,c,d,e,f){var a=document.getElementById(b);a&&(b=a.previousSibling,b.data="$!",a=a.dataset,null!=c\
&&(a.dgst=c),d&&(a.msg=d),e&&(a.stck=e),f&&(a.cstck=f),b._reactRetry&&b._reactRetry())};;$RX("')):R.push('$RX("'),R.push(
W.boundaryPrefix);var G=Xe.toString(16);if(R.push(G),R.push('"'),ye!=null)if(R.push(","),ye==null)R.push("null");else{var cn=lc(
ye);R.push(cn)}var K=R.push(")</script>");if(!K){e.destination=null,t++,Q.splice(0,t);return}}Q.splice(0,t);var _e=e.completedBoundaries;
for(t=0;t<_e.length;t++)if(!pl(e,n,_e[t])){e.destination=null,t++,_e.splice(0,t);return}_e.splice(0,t),hr=!0;var j=e.partialBoundaries;
for(t=0;t<j.length;t++){var Te=j[t];e:{Q=e,F=n,Ot=Te.byteSize;var Ee=Te.completedSegments;for(K=0;K<Ee.length;K++)if(!Kl(
Q,F,Te,Ee[K])){K++,Ee.splice(0,K);var ke=!1;break e}Ee.splice(0,K);var U=Te.row;U!==null&&U.together&&Te.pendingTasks===
1&&(U.pendingTasks===1?Hi(Q,U,U.hoistables):U.pendingTasks--),ke=Ll(F,Te.contentState,Q.renderState)}if(!ke){e.destination=
null,t++,j.splice(0,t);return}}j.splice(0,t),hr=!1;var Ue=e.completedBoundaries;for(t=0;t<Ue.length;t++)if(!pl(e,n,Ue[t])){
e.destination=null,t++,Ue.splice(0,t);return}Ue.splice(0,t)}}finally{hr=!1,t=e.postponedState,t!==null&&(t.nextSegmentId=
e.nextSegmentId),e.allPendingTasks===0&&e.clientRenderedBoundaries.length===0&&e.completedBoundaries.length===0&&(e.flushScheduled=
!1,t=e.resumableState,t.hasBody&&(j=Rn("body"),n.push(j)),t.hasHtml&&(t=Rn("html"),n.push(t)),zi(e),e.status=13,n.push(null),
e.destination=null)}}function _n(e){if(e.flushScheduled===!1&&e.pingedTasks.length===0&&e.destination!==null){e.flushScheduled=
!0;var n=e.destination;n?Lr(e,n):e.flushScheduled=!1}}function Xc(e,n){if(e.status===12)e.status=13,e=e.fatalError,Mr(e)&&
(e=Fi(e)),n.destroy(e);else if(e.status!==13&&e.destination===null){e.destination=n;try{Lr(e,n)}catch(t){J(e,t,{}),An(e,
t)}}}function Zc(e,n){try{if(0<n.size){var t=e.fatalError;n.forEach(function(r){return Sn(r,e,t)}),n.clear()}e.destination!==
null&&Lr(e,e.destination)}catch(r){J(e,r,{}),An(e,r)}}function zi(e){e=e.renderLifetimeController,e!==null&&e.abort("The\
 render ended.")}function Vc(e,n){if(!(e.aborted||e.status!==11&&e.status!==10)){zi(e);var t=typeof n=="object"&&n!==null&&
n.$$typeof===_r;e.aborted=!0,n=t?zl(n):n===void 0?Error(p(432)):typeof n=="object"&&n!==null&&typeof n.then=="function"?
Error(p(530)):n,e.fatalError=n,n=e.abortableTasks,n.forEach(function(r){return Rr(r,e)}),Zc(e,n)}}function Ar(e,n,t){if(n===
null)t.rootNodes.push(e);else{var r=t.workingMap,i=r.get(n);i===void 0&&(i=[n[1],n[2],[],null],r.set(n,i),Ar(i,n[0],t)),
i[2].push(e)}}function Qc(){}function jl(e,n,t,r){var i=!1,a=null,u="",s=!1;if(n=$u(n?n.identifierPrefix:void 0),e=Wc(e,
n,Rc(n,t),$(0,null,0,null),1/0,Qc,void 0,void 0,function(){s=!0},void 0,void 0,void 0),e.flushScheduled=e.destination!==
null,Ql(e),e.status===10&&(e.status=11),e.trackedPostpones===null&&Yi(e,e.pendingRootTasks===0),Vc(e,r),Xc(e,{push:function(c){
return c!==null&&(u+=c),!0},destroy:function(c){i=!0,a=c}}),i&&a!==r)throw a;if(!s)throw Error(p(426));return u}Ur.renderToStaticMarkup=
function(e,n){return jl(e,n,!0,'The server used "renderToStaticMarkup" which does not support Suspense. If you intended \
to have the server wait for the suspended component please switch to "renderToReadableStream" which supports Suspense on\
 the server')};Ur.renderToString=function(e,n){return jl(e,n,!1,'The server used "renderToString" which does not support\
 Suspense. If you intended for this Suspense boundary to render the fallback content on the server consider throwing an \
Error somewhere within the Suspense boundary. If you intended to have the server wait for the suspended component please\
 switch to "renderToReadableStream" which supports Suspense on the server')};Ur.version="19.3.1"});var to=Pn(Hr=>{"use strict";var Kc=Symbol.for("react.transitional.element"),jc=Symbol.for("react.fragment");function no(e,n,t){
var r=null;if(t!==void 0&&(r=""+t),n.key!==void 0&&(r=""+n.key),"key"in n){t={};for(var i in n)i!=="key"&&(t[i]=n[i])}else
t=n;return n=t.ref,{$$typeof:Kc,type:e,key:r,ref:n!==void 0?n:null,props:t}}Hr.Fragment=jc;Hr.jsx=no;Hr.jsxs=no});var w=Pn((ms,ro)=>{"use strict";ro.exports=to()});var ou=v(he(),1),uu=v(ql(),1);var Jc=Symbol.for("react-email.element"),le=(e,n={})=>{e[Jc]=n};var $l=["margin","marginTop","marginBottom","marginRight","marginLeft","marginInline","marginBlock","marginBlockStart","\
marginBlockEnd","marginInlineStart","marginInlineEnd"],eo=["padding","paddingTop","paddingBottom","paddingRight","paddin\
gLeft","paddingInline","paddingBlock","paddingBlockStart","paddingBlockEnd","paddingInlineStart","paddingInlineEnd"];var io=v(he(),1),nt=v(w(),1),It=io.forwardRef(({children:e,style:n,...t},r)=>{let i={background:n?.background,backgroundColor:n?.
backgroundColor};if(n)for(let a of[...$l,...eo])i[a]=n[a]!==void 0?0:void 0;return(0,nt.jsx)("body",{...t,dir:t.dir??"lt\
r",lang:t.lang??"en",style:i,ref:r,children:(0,nt.jsx)("table",{border:0,width:"100%",cellPadding:"0",cellSpacing:"0",role:"\
presentation",align:"center",children:(0,nt.jsx)("tbody",{children:(0,nt.jsx)("tr",{children:(0,nt.jsx)("td",{dir:t.dir??
"ltr",lang:t.lang??"en",style:n,children:e})})})})})});It.displayName="Body";le(It);function Dr(e){let n=0;if(e===void 0||e==="")return;if(typeof e=="number")return e;let t=/^([\d.]+)(px|em|rem|%)$/.exec(
e);if(t&&t.length===3){let r=Number.parseFloat(t[1]);switch(t[2]){case"px":return r;case"em":case"rem":return n=r*16,n;case"\
%":return n=r/100*600,n;default:return r}}return 0}function qc(e){if(typeof e=="number")return{paddingTop:e,paddingBottom:e,
paddingLeft:e,paddingRight:e};if(typeof e=="string"){let n=e.toString().trim().split(/\s+/);if(n.length===1)return{paddingTop:n[0],
paddingBottom:n[0],paddingLeft:n[0],paddingRight:n[0]};if(n.length===2)return{paddingTop:n[0],paddingRight:n[1],paddingBottom:n[0],
paddingLeft:n[1]};if(n.length===3)return{paddingTop:n[0],paddingRight:n[1],paddingBottom:n[2],paddingLeft:n[1]};if(n.length===
4)return{paddingTop:n[0],paddingRight:n[1],paddingBottom:n[2],paddingLeft:n[3]}}return{paddingTop:void 0,paddingBottom:void 0,
paddingLeft:void 0,paddingRight:void 0}}function ao(e){let n,t,r,i;for(let[a,u]of Object.entries(e))a==="padding"?{paddingTop:n,
paddingBottom:r,paddingLeft:i,paddingRight:t}=qc(u):a==="paddingTop"?n=u:a==="paddingRight"?t=u:a==="paddingBottom"?r=u:
a==="paddingLeft"&&(i=u);return{paddingTop:Dr(n),paddingRight:Dr(t),paddingBottom:Dr(r),paddingLeft:Dr(i)}}var Wi=e=>typeof e=="number"&&!Number.isNaN(Number(e))?e*3/4:void 0;var oo=v(he(),1),tt=v(w(),1),$c=5;function lo(e){if(e===0)return[0,0];let n=0,t=()=>n>0?e/n/2:Number.POSITIVE_INFINITY;for(;t()>
$c;)n++;return[t(),n]}var Ft=oo.forwardRef(({children:e,style:n,target:t="_blank",...r},i)=>{let{paddingTop:a,paddingRight:u,
paddingBottom:s,paddingLeft:c}=ao(n??{}),l=Wi((a??0)+(s??0)),[o,f]=lo(c??0),[d,h]=lo(u??0);return(0,tt.jsxs)("a",{...r,ref:i,
style:{lineHeight:"100%",textDecoration:"none",display:"inline-block",maxWidth:"100%",msoPaddingAlt:"0px",...n,paddingTop:a,
paddingRight:u,paddingBottom:s,paddingLeft:c},target:t,children:[(0,tt.jsx)("span",{dangerouslySetInnerHTML:{__html:`<!-\
-[if mso]><i style="mso-font-width:${o*100}%;mso-text-raise:${l}px" hidden>${"&#8202;".repeat(f)}</i><![endif]-->`}}),(0,tt.jsx)(
"span",{style:{maxWidth:"100%",display:"inline-block",lineHeight:"120%",msoPaddingAlt:"0px",msoTextRaise:Wi(s)},children:e}),
(0,tt.jsx)("span",{dangerouslySetInnerHTML:{__html:`<!--[if mso]><i style="mso-font-width:${d*100}%" hidden>${"&#8202;".
repeat(h)}&#8203;</i><![endif]-->`}})]})});Ft.displayName="Button";le(Ft);var uo=v(he(),1),Lt=v(w(),1),kn=uo.forwardRef(({children:e,style:n={},tdClassName:t,...r},i)=>{let a={},u={},s=n;for(let c in s){
if(!Object.hasOwn(s,c))continue;let l=s[c];c.startsWith("padding")?a[c]=l:u[c]=l}return(0,Lt.jsx)("table",{align:"center",
width:"100%",...r,border:0,cellPadding:"0",cellSpacing:"0",ref:i,role:"presentation",style:{maxWidth:"37.5em",...u},children:(0,Lt.jsx)(
"tbody",{children:(0,Lt.jsx)("tr",{style:{width:"100%"},children:(0,Lt.jsx)("td",{className:t,style:a,children:e})})})})});
kn.displayName="Container";le(kn,{resolveTailwind(e,{style:n,className:t,classProperties:r}){let i=[],a=e.tdClassName?[e.
tdClassName]:[];for(let u of t?.split(" ")??[]){let s=r[u];s&&s.length>0&&s.every(c=>c.startsWith("padding"))?a.push(u):
i.push(u)}return{...e,style:n,className:i.length>0?i.join(" "):void 0,tdClassName:a.length>0?a.join(" "):void 0}}});var co=v(he(),1),Ut=v(w(),1),Yr=co.forwardRef(({children:e,...n},t)=>(0,Ut.jsxs)("head",{...n,ref:t,children:[(0,Ut.jsx)(
"meta",{content:"text/html; charset=UTF-8",httpEquiv:"Content-Type"}),(0,Ut.jsx)("meta",{name:"x-apple-disable-message-r\
eformatting"}),e]}));Yr.displayName="Head";var so=e=>{let n=[Mn(e.m,["margin"]),Mn(e.mx,["marginLeft","marginRight"]),Mn(e.my,["marginTop","marginBottom"]),Mn(e.mt,
["marginTop"]),Mn(e.mr,["marginRight"]),Mn(e.mb,["marginBottom"]),Mn(e.ml,["marginLeft"])],t={};for(let r of n)Object.keys(
r).length>0&&Object.assign(t,r);return t},Mn=(e,n)=>{let t={};if(e===void 0||Number.isNaN(Number.parseFloat(String(e))))
return t;for(let r of n)t[r]=`${e}px`;return t};var fo=v(he(),1),ho=v(w(),1),Ht=fo.forwardRef(({as:e="h1",children:n,style:t,m:r,mx:i,my:a,mt:u,mr:s,mb:c,ml:l,...o},f)=>(0,ho.jsx)(
e,{...o,ref:f,style:{...so({m:r,mx:i,my:a,mt:u,mr:s,mb:c,ml:l}),...t},children:n}));Ht.displayName="Heading";le(Ht);var go=v(he(),1),po=v(w(),1),Br=go.forwardRef(({children:e,lang:n="en",dir:t="ltr",...r},i)=>(0,po.jsx)("html",{...r,dir:t,
lang:n,ref:i,children:e}));Br.displayName="Html";var vo=v(he(),1),yo=v(w(),1),Dt=vo.forwardRef(({alt:e,src:n,width:t,height:r,style:i,...a},u)=>(0,yo.jsx)("img",{...a,alt:e??
"",height:r,ref:u,src:n,style:{display:"block",outline:"none",border:"none",textDecoration:"none",...i},width:t}));Dt.displayName=
"Img";le(Dt);var bo=v(he(),1),un=v(w(),1),Gi=200,Yt=bo.forwardRef(({children:e="",useTitleTag:n=!0,...t},r)=>{let i=(Array.isArray(e)?
e.join(""):e).substring(0,Gi);return(0,un.jsxs)(un.Fragment,{children:[n?(0,un.jsx)("title",{children:i}):null,(0,un.jsxs)(
"div",{style:{display:"none",overflow:"hidden",lineHeight:"1px",opacity:0,maxHeight:0,maxWidth:0},"data-skip-in-text":!0,
...t,ref:r,children:[i,mo(i)]})]})});Yt.displayName="Preview";le(Yt);var es=" ‌​‍\uFEFF",mo=e=>e.length>=Gi?null:
(0,un.jsx)("div",{children:es.repeat(Gi-e.length)});var wo=v(he(),1),Bt=v(w(),1),zt=wo.forwardRef(({children:e,style:n={},tdClassName:t,...r},i)=>{let a={},u={},s=n;for(let c in s){
if(!Object.hasOwn(s,c))continue;let l=s[c];c.startsWith("padding")?a[c]=l:u[c]=l}return(0,Bt.jsx)("table",{align:"center",
width:"100%",border:0,cellPadding:"0",cellSpacing:"0",role:"presentation",...r,ref:i,style:u,children:(0,Bt.jsx)("tbody",
{children:(0,Bt.jsx)("tr",{children:(0,Bt.jsx)("td",{className:t,style:a,children:e})})})})});zt.displayName="Section";le(
zt,{resolveTailwind(e,{style:n,className:t,classProperties:r}){let i=[],a=e.tdClassName?[e.tdClassName]:[];for(let u of t?.
split(" ")??[]){let s=r[u];s&&s.length>0&&s.every(c=>c.startsWith("padding"))?a.push(u):i.push(u)}return{...e,style:n,className:i.
length>0?i.join(" "):void 0,tdClassName:a.length>0?a.join(" "):void 0}}});function ns(e){if(typeof e=="number")return{marginTop:e,marginBottom:e,marginLeft:e,marginRight:e};if(typeof e=="string"){
let n=e.toString().trim().split(/\s+/);if(n.length===1)return{marginTop:n[0],marginBottom:n[0],marginLeft:n[0],marginRight:n[0]};
if(n.length===2)return{marginTop:n[0],marginRight:n[1],marginBottom:n[0],marginLeft:n[1]};if(n.length===3)return{marginTop:n[0],
marginRight:n[1],marginBottom:n[2],marginLeft:n[1]};if(n.length===4)return{marginTop:n[0],marginRight:n[1],marginBottom:n[2],
marginLeft:n[3]}}return{marginTop:void 0,marginBottom:void 0,marginLeft:void 0,marginRight:void 0}}function To(e){let n={
marginTop:void 0,marginRight:void 0,marginBottom:void 0,marginLeft:void 0};for(let[t,r]of Object.entries(e))t==="margin"?
n=ns(r):t==="marginTop"?n.marginTop=r:t==="marginRight"?n.marginRight=r:t==="marginBottom"?n.marginBottom=r:t==="marginL\
eft"&&(n.marginLeft=r);return n}var Po=v(he(),1),xo=v(w(),1),We=Po.forwardRef(({style:e,...n},t)=>{let r={};e?.marginTop===void 0&&(r.marginTop="16px"),
e?.marginBottom===void 0&&(r.marginBottom="16px");let i=To({...r,...e});return(0,xo.jsx)("p",{...n,ref:t,style:{fontSize:"\
14px",lineHeight:"24px",...e,...i}})});We.displayName="Text";le(We);var Eo=()=>{let e=(o,f="")=>o?`The next charge is ${o.amount?`${o.amount} `:""}on ${o.on}${f}.`:`Nothing more is charged${o===
null?"":" for now"}.`,n="If you have bought a plan since, or do not want to go on, there is nothing left to do.",t="If y\
ou have changed or cancelled it since, there is nothing left to do.",r="You also have other access, which is not affecte\
d.",i=o=>o===void 0?"is active":`starts on ${o}`,a=o=>o===null?"":` and is valid until ${o}`,u=({planName:o,validUntil:f,
nextPlanName:d,nextCharge:h})=>{let g=!h||d!==null?a(f):"",y=d===null?"":` Then your ${d} plan starts.`;return`Your ${o}\
 plan goes on${g}.${y} ${e(h)}`},s=({accessEndsOn:o,isEnded:f},d,h)=>o===null?d:f?`Your access ended on ${o}.`:h(o),c=o=>{
let f=o.isEnded?"You have no access to a plan now.":"Your other access continues.";return s(o,f,d=>`Your access lasts un\
til ${d}.`)},l="Keep this e-mail for your records. If you have a question about this payment, quote the transaction ID.";
return{lang:"en",hello:"Hello",amountOn:(o,f)=>o===null?f:`${o} on ${f}`,labels:{plan:"Plan",nextPlan:"Next plan",amount:"\
Amount",amountPaid:"Amount paid",credit:"Credit",price:"Price",payment:"Payment",refunded:"Refunded",reason:"Reason",notCharged:"\
Not charged",withoutPayment:"Without a payment",validUntil:"Valid until",paidUntil:"Paid until",accessUntil:"Access unti\
l",accessEnded:"Access ended on",ended:"Ended on",starts:"Starts on",undoUntil:"Undo until",resumeUntil:"Resume until",nextPayment:"\
Next payment",transaction:"Transaction ID",number:"Number",date:"Date",total:"Total"},actions:{plans:"See the plans",dashboard:"\
Open your dashboard",retry:"Try again",manage:"Manage your payment",renew:"Renew your plan"},accessUntil:o=>`Access unti\
l ${o}`,paymentSuccess:{subject:({planName:o,startsOn:f})=>`Payment received: your ${o} plan ${i(f)}`,preview:({amount:o,
validUntil:f})=>`${o} paid. Your plan is valid until ${f}.`,heading:"Payment received",body:o=>`Thank you. We have recei\
ved your payment, and your plan ${i(o.startsOn)}.`,note:l},subscriptionRenewed:{subject:({planName:o})=>`Your ${o} plan \
has been renewed`,preview:({amount:o,validUntil:f})=>`${o} paid. Your plan is valid until ${f}.`,heading:"Your plan has \
been renewed",body:"Thank you. We have received your payment, and your plan has been renewed.",note:l},paymentFailed:{subject:({
planName:o})=>`Your payment for the ${o} plan failed`,preview:({amount:o})=>`${o} could not be charged. You can try agai\
n.`,heading:"Payment failed",body:"Your payment did not go through. This attempt has not changed your subscription, and \
you can try again.",note:"If you have paid since with another attempt, there is nothing left to do."},paymentPending:{subject:({
planName:o})=>`Your ${o} plan could not be renewed yet`,preview:"The payment did not go through. It will be tried again \
automatically.",heading:"Your plan could not be renewed yet",body:({planName:o,...f})=>`The payment for the next period \
of your ${o} plan did not go through. It will be tried again automatically over the next few days. Please check that you\
r payment method works. `+s(f,r,d=>`If no payment succeeds, your access ends on ${d}.`),note:"If you have paid since, th\
ere is nothing left to do."},subscriptionHalted:{subject:({planName:o})=>`Your ${o} plan could not be renewed`,preview:"\
The payment did not go through. It will not be tried again automatically.",heading:"Your plan could not be renewed",body:({
planName:o,manageUrl:f,...d})=>`The payment for the next period of your ${o} plan did not go through, and all further at\
tempts failed. It will not be tried again automatically. `+s(d,r,h=>`Without a payment, your access lasts until ${h}.`)+
(f===null?" To continue, choose a plan again.":" To continue, pay or change your payment method."),note:"If you have pai\
d since, or do not want to go on, there is nothing left to do."},paymentRefunded:{subject:({refunded:o})=>`${o} was refu\
nded`,preview:({paid:o,planName:f})=>`Of your payment of ${o} for the ${f} plan.`,heading:"Your refund",body:({refunded:o,
paid:f,planName:d,accessPlanName:h,accessEndsOn:g,nextCharge:y})=>(o===f?"Your":`${o} of your`)+` payment of ${f} for th\
e ${d} plan was refunded. `+(h===null?"You have no access to a plan now.":`Your ${h} plan remains${a(g)}.`)+` ${e(y)} Yo\
ur bank may need some days to show the refund.`,note:"Keep this e-mail for your records. If you have a question about th\
is refund, quote the transaction ID."},titles:{},receiptIssued:{subject:({title:o,documentNumber:f})=>`${o} ${f}`,preview:({
date:o,total:f})=>`Of ${o}, ${f}.`,body:({documentNumber:o,date:f})=>`Attached is the document ${o} of ${f}.`,note:"Keep\
 this e-mail for your records."},changeScheduled:{subject:({planName:o,startsOn:f})=>`Your plan changes to ${o} on ${f}`,
preview:o=>`${o.amount} ${o.interval}, for the first time on ${o.startsOn}.`,heading:"Your plan will change",body:({planName:o,
startsOn:f,amount:d,interval:h,undoUntil:g})=>`Your ${o} plan starts on ${f}. Until then you keep the plan that you have\
. On that day ${d} will be charged, then ${d} ${h}. `+(g===null?"The change cannot be undone any more.":`You can undo th\
e change until ${g} on the page of your plan.`),price:({amount:o,interval:f})=>`${o} ${f}`,note:"If you have undone the \
change since, there is nothing left to do."},changeUndone:{subject:({planName:o})=>`Your ${o} plan stays`,preview:"The c\
hange of your plan is undone.",heading:"The change is undone",body:o=>`Your plan does not change after all. ${u(o)}`,note:t},
subscriptionResumed:{subject:({planName:o})=>`Your ${o} subscription is resumed`,preview:"Your cancellation is withdrawn\
.",heading:"Your subscription is resumed",body:o=>`You have withdrawn your cancellation. ${u(o)}`,note:t},planChanged:{subject:({
planName:o})=>`Your plan has changed: ${o}`,preview:({oldPlanName:o,credit:f,nextCharge:d})=>f===null?e(d):`${f} of your\
 old ${o} plan was credited.`,heading:"Your plan is changed",body:({oldPlanName:o,nextCharge:f,...d})=>{let h=d.isAuthorised?
"":", once you have authorised it",g=f?e(f,h):"It does not renew by itself.",y=d.credit?"has begun a new period":"has a \
new price",C=d.planName===o?y:`has begun, and your ${o} plan has ended`,T=`Your plan is valid until ${d.validUntil}. ${g}`,
S=`For the unused time of the old one ${d.credit} was credited, and you paid ${d.amount}. `;return`Your ${d.planName} pl\
an ${C}. ${d.credit?S:""}${T}`},note:t},subscriptionCancelled:{subject:({planName:o})=>`Your ${o} subscription is cancel\
led`,preview:o=>`Nothing more will be charged for it. ${c(o)}`,heading:"Your subscription is cancelled",body:o=>`You hav\
e cancelled your ${o.planName} subscription. Nothing more will be charged for it. `+c(o)+(o.resumeUntil===null?"":` You \
can resume the subscription until ${o.resumeUntil}.`),note:"If you have resumed it or bought a plan since, there is noth\
ing left to do."},subscriptionCompleted:{subject:({planName:o})=>`Your ${o} subscription is complete`,preview:({endsOn:o})=>`\
The last payment was made. The plan is paid until ${o}.`,heading:"Your subscription is complete",body:({planName:o,endsOn:f,
...d})=>{let h=s(d,"After that, your other access continues.",g=>g===f?"After that, your access ends.":`Your access ends\
 on ${g}.`);return`The last payment of your ${o} subscription was made. Nothing more will be charged for it. The plan is\
 paid until ${f}. ${h} You can choose a plan again on that day or later.`},note:n},subscriptionEnding:{subject:({planName:o,
endsOn:f})=>`Your ${o} plan ends on ${f}`,preview:{replace:"You can buy it again on that day or later.",extend:"If you r\
enew it before then, you lose no day.",none:"It is not on sale any more. You can choose another plan."},heading:"Your ac\
cess ends soon",body:({endsOn:o,earlyRenewal:f})=>`Your plan is valid until ${o}. After that your access ends. `+{replace:"\
You can buy the plan again on that day or later.",extend:"To keep your access, renew before then: the new period is adde\
d to this one, and you lose no day.",none:"The plan is not on sale any more. You can choose another one."}[f],note:n},subscriptionEnded:{
subject:({planName:o})=>`Your ${o} plan has ended`,preview:o=>`Your access ended on ${o}.`,heading:"Your access has ende\
d",body:({planName:o,endsOn:f,refunded:d,nextCharge:h},g)=>d===void 0?`Your access to the ${o} plan ended on ${g}. You c\
an come back at any time.`:`Your access to the ${o} plan ended on ${f}, because ${d} was refunded. ${e(h)}`,note:"If you\
 have bought a plan since, there is nothing left to do."}}};var Ro=()=>{let e=l=>l?`अगली राशि ${l.on} को ली जाएगी${l.amount?`: ${l.amount}`:""}।`:
`${l===null?"आगे":"फ़िलहाल आगे"} कोई राशि नहीं ली जाएगी।`,
n="यदि आपने इस बीच कोई प्लान ख़रीद लिया है, या प्लान जारी नहीं रखना चाहते, तो कुछ करने की ज़रूरत नहीं है।",
t="यदि आपने इस बीच इसे बदल या रद्द कर दिया है, तो कुछ करने की ज़रूरत नहीं है।",
r="आपके पास दूसरा प्लान भी है, जिस पर कोई असर नहीं पड़ता।",
i=l=>l===null?"":` और ${l} तक मान्य है`,a=({planName:l,validUntil:o,nextPlanName:f,nextCharge:d})=>{
let h=!d||f!==null?i(o):"",g=f===null?"":` उसके बाद आपका ${f} प्लान शुरू होगा।`;
return`आपका ${l} प्लान जारी है${h}।${g} ${e(d)}`},u=({accessEndsOn:l,isEnded:o},f,d)=>l===
null?f:o?`आपका एक्सेस ${l} को समाप्त हुआ।`:d(l),s=l=>{let o=l.isEnded?"अब आप\
के पास कोई प्लान नहीं है।":"आपका दूसरा प्लान जारी है।";
return u(l,o,f=>`आपका एक्सेस ${f} तक रहेगा।`)},c="यह ई-मेल सँभालकर रखें। इस भुगतान क\
े बारे में कोई प्रश्न हो, तो लेन-देन आईडी बताएँ।";
return{lang:"hi",hello:"नमस्ते",amountOn:(l,o)=>l===null?o:`${o} को ${l}`,labels:{plan:"प्लान",
nextPlan:"अगला प्लान",amount:"राशि",amountPaid:"चुकाई गई राशि",credit:"क\
्रेडिट",price:"कीमत",payment:"भुगतान",refunded:"लौटाई गई राशि",reason:"\
कारण",notCharged:"नहीं ली जा सकी",withoutPayment:"बिना भुगतान के",
validUntil:"कब तक मान्य",paidUntil:"भुगतान कब तक का",accessUntil:"एक्सेस कब तक",
accessEnded:"एक्सेस समाप्त",ended:"समाप्त",starts:"कब से शुरू",undoUntil:"\
वापस लेने की अंतिम तारीख",resumeUntil:"फिर से शुरू करने की अंतिम तारीख",
nextPayment:"अगला भुगतान",transaction:"लेन-देन आईडी",number:"संख्या",
date:"तारीख",total:"कुल"},actions:{plans:"प्लान देखें",dashboard:"अपना डैशबोर्ड खोले\
ं",retry:"फिर से कोशिश करें",manage:"अपना भुगतान देखें",renew:"\
अपना प्लान नवीनीकृत करें"},accessUntil:l=>`एक्सेस ${l} तक`,paymentSuccess:{
subject:({planName:l,startsOn:o})=>`भुगतान मिल गया: आपका ${l} प्लान ${o?`${o} \
को शुरू होगा`:"सक्रिय है"}`,preview:({amount:l,validUntil:o})=>`${l} का भुगतान हुआ। \
आपका प्लान ${o} तक मान्य है।`,heading:"भुगतान मिल गया",body:({
startsOn:l})=>`धन्यवाद। हमें आपका भुगतान मिल गया है, और आपका प्लान ${l?
`${l} को शुरू होगा`:"सक्रिय है"}।`,note:c},subscriptionRenewed:{subject:({planName:l})=>`\
आपका ${l} प्लान नवीनीकृत हो गया है`,preview:({amount:l,validUntil:o})=>`${l}\
 का भुगतान हुआ। आपका प्लान ${o} तक मान्य है।`,heading:"आपक\
ा प्लान नवीनीकृत हो गया है",body:"धन्यवाद। हमें आपका भुगतान मिल गया है, और आपक\
ा प्लान नवीनीकृत हो गया है।",note:c},paymentFailed:{subject:({planName:l})=>`${l}\
 प्लान के लिए आपका भुगतान असफल रहा`,preview:({amount:l})=>`${l} का\
 भुगतान नहीं हो सका। आप फिर से कोशिश कर सकते हैं।`,
heading:"भुगतान असफल",body:"आपका भुगतान नहीं हो सका। इस कोशिश से आपकी सदस्यता में कोई बदलाव नहीं हुआ\
 है, और आप फिर से कोशिश कर सकते हैं।",note:"यदि आपने इस बीच किसी दूस\
री कोशिश में भुगतान कर दिया है, तो कुछ करने की ज़रूरत नहीं है।"},
paymentPending:{subject:({planName:l})=>`आपका ${l} प्लान अभी नवीनीकृत नहीं हो सका`,
preview:"भुगतान नहीं हो सका। अपने आप फिर से कोशिश की जाएगी।",
heading:"आपका प्लान अभी नवीनीकृत नहीं हो सका",body:({planName:l,
...o})=>`आपके ${l} प्लान की अगली अवधि का भुगतान नहीं हो सका। अगले कुछ दिनों में अपने आप फिर से कोशिश की जाएगी। क\
ृपया जाँचें कि आपका भुगतान का तरीका काम कर रहा है। `+
u(o,r,f=>`यदि कोई भुगतान सफल नहीं होता, तो आपका एक्सेस ${f}\
 को समाप्त होगा।`),note:"यदि आपने इस बीच भुगतान कर दिया है, तो कुछ करने की ज़रूरत नहीं है।"},
subscriptionHalted:{subject:({planName:l})=>`आपका ${l} प्लान नवीनीकृत नहीं हो सका`,
preview:"भुगतान नहीं हो सका। अपने आप फिर से कोशिश नहीं की जाएगी।",
heading:"आपका प्लान नवीनीकृत नहीं हो सका",body:({planName:l,manageUrl:o,
...f})=>`आपके ${l} प्लान की अगली अवधि का भुगतान नहीं हो सका, और आगे की सभी कोशिशें असफल रहीं। अपने आप फिर से कोश\
िश नहीं की जाएगी। `+u(f,r,d=>`बिना भुगतान के आपका एक्सेस ${d}\
 तक है।`)+(o===null?" जारी रखने के लिए फिर से कोई प्लान चुनें।":
" जारी रखने के लिए भुगतान करें या भुगतान का तरीका बदलें।"),
note:"यदि आपने इस बीच भुगतान कर दिया है, या प्लान जारी नहीं रखना चाहते, तो कुछ करने की ज़रूरत नहीं है।"},
paymentRefunded:{subject:({refunded:l})=>`${l} लौटाए गए`,preview:({paid:l,planName:o})=>`${o} प्लान के लिए\
 आपके ${l} के भुगतान में से।`,heading:"आपका रिफ़ंड",body:({refunded:l,
paid:o,planName:f,accessPlanName:d,accessEndsOn:h,nextCharge:g})=>(l===o?`${f} प्लान के लिए आपका ${o}\
 का भुगतान लौटाया गया। `:`${f} प्लान के लिए आपके ${o} के\
 भुगतान में से ${l} लौटाए गए। `)+(d===null?"अब आपके पास कोई प्लान नहीं है।":
`आपका ${d} प्लान बना रहेगा${i(h)}।`)+` ${e(g)} रिफ़ंड को आपके खाते में दिखने में कुछ\
 दिन लग सकते हैं।`,note:"यह ई-मेल सँभालकर रखें। इस रिफ़ंड के बारे में कोई प्रश्न हो, तो लेन-दे\
न आईडी बताएँ।"},titles:{Receipt:"रसीद","Tax invoice":"टैक्स इनवॉइस",
"Credit note":"क्रेडिट नोट","Credit note without GST":"बिना जीएसटी का क्रेडिट नोट"},
receiptIssued:{subject:({title:l,documentNumber:o})=>`${l} ${o}`,preview:({date:l,total:o})=>`${l}, ${o}।`,body:({documentNumber:l,
date:o})=>`${o} का दस्तावेज़ ${l} साथ में है।`,note:"यह ई-मेल सँभालकर रखें।"},
changeScheduled:{subject:({planName:l,startsOn:o})=>`आपका प्लान ${o} से ${l} होगा`,preview:({
amount:l,interval:o,startsOn:f})=>`${o} ${l}, पहली बार ${f} को।`,heading:"आपका प्लान बदलेगा",
body:({planName:l,startsOn:o,amount:f,interval:d,undoUntil:h})=>`आपका ${l} प्लान ${o} से शुरू होगा। तब\
 तक आपका मौजूदा प्लान चलता रहेगा। उस दिन ${f} लिए जाएँगे\
, फिर ${d} ${f}। `+(h===null?"यह बदलाव अब वापस नहीं लिया जा सकता।":
`आप अपने प्लान के पेज पर यह बदलाव ${h} तक वापस ले सकते हैं।`),
price:({amount:l,interval:o})=>`${o} ${l}`,note:"यदि आपने इस बीच बदलाव वापस ले लिया है, तो कुछ करने की ज़रूरत नहीं है।"},
changeUndone:{subject:({planName:l})=>`आपका ${l} प्लान बना रहेगा`,preview:"आपके प्लान \
का बदलाव वापस ले लिया गया है।",heading:"बदलाव वापस ले लिया गया है",
body:l=>`अब आपका प्लान नहीं बदलेगा। ${a(l)}`,note:t},subscriptionResumed:{subject:({
planName:l})=>`आपकी ${l} सदस्यता फिर से शुरू हो गई है`,preview:"आपका\
 रद्द करना वापस ले लिया गया है।",heading:"आपकी सदस्यता फिर से शुरू हो गई\
 है",body:l=>`आपने सदस्यता रद्द करना वापस ले लिया है। ${a(
l)}`,note:t},planChanged:{subject:({planName:l})=>`आपका प्लान बदल गया है: ${l}`,preview:({
planName:l,oldPlanName:o,credit:f,nextCharge:d})=>f===null?e(d):l===o?`नई अवधि शुरू हो गई है, और पुरानी अवधि के ${f}\
 क्रेडिट किए गए।`:`आपका ${o} प्लान समाप्त हो गया है, और उसके ${f}\
 क्रेडिट किए गए।`,heading:"आपका प्लान बदल गया है",body:({planName:l,
oldPlanName:o,credit:f,amount:d,validUntil:h,nextCharge:g,isAuthorised:y})=>{let C=g?y?e(g):`आपकी अनुमति के बाद अगली राश\
ि ${g.on} को ली जाएगी: ${g.amount}।`:"यह अपने आप नवीनीकृत नहीं होता।",
[T,S]=l===o?[`आपके ${l} प्लान ${f===null?"का मूल्य बदल गया":"की नई अवधि शुरू\
 हो गई"} है।`,"पुरानी अवधि"]:[`आपका ${l} प्लान शुरू हो गया है, और आपका ${o}\
 प्लान समाप्त हो गया है।`,"पुराने प्लान"],D=f===null?"":` ${S}\
 के बचे समय के लिए ${f} क्रेडिट किए गए, और आपने ${d} चुकाए\
।`;return`${T}${D} आपका प्लान ${h} तक मान्य है। ${C}`},note:t},subscriptionCancelled:{
subject:({planName:l})=>`आपकी ${l} सदस्यता रद्द हो गई है`,preview:l=>`इसके लिए\
 आगे कोई राशि नहीं ली जाएगी। ${s(l)}`,heading:"आपकी सदस्यता रद्द हो गई है",
body:l=>`आपने अपनी ${l.planName} सदस्यता रद्द कर दी है। इसके लिए आगे कोई राशि नहीं ली जाएगी। ${s(
l)}`+(l.resumeUntil===null?"":` आप सदस्यता ${l.resumeUntil} तक फिर से शुरू कर सकते हैं।`),
note:"यदि आपने इस बीच इसे फिर से शुरू किया है या कोई प्लान ख़रीदा है, तो कुछ करने की ज़रूरत नहीं है।"},
subscriptionCompleted:{subject:({planName:l})=>`आपकी ${l} सदस्यता पूरी हो गई है`,
preview:({endsOn:l})=>`अंतिम भुगतान हो गया है। प्लान का भुगतान ${l}\
 तक हो चुका है।`,heading:"आपकी सदस्यता पूरी हो गई है",body:({
planName:l,endsOn:o,...f})=>{let d=u(f,"उसके बाद आपका दूसरा प्लान जारी रहेगा।",
h=>h===o?"उसके बाद आपका एक्सेस समाप्त होगा।":`आपका एक्सेस ${h}\
 को समाप्त होगा।`);return`आपकी ${l} सदस्यता का अंतिम भुगतान हो गया है। इसके लिए आगे को\
ई राशि नहीं ली जाएगी। प्लान का भुगतान ${o} तक हो चुका है। ${d}\
 आप उस दिन या बाद में फिर से प्लान चुन सकते हैं।`},
note:n},subscriptionEnding:{subject:({planName:l,endsOn:o})=>`आपका ${l} प्लान ${o} को समाप्त होगा`,
preview:{replace:"आप इसे उस दिन या बाद में फिर से ख़रीद सकते हैं।",
extend:"यदि आप इसे उससे पहले नवीनीकृत करते हैं, तो आपका कोई दिन नहीं घटेगा।",
none:"यह अब बिक्री पर नहीं है। आप कोई दूसरा प्लान चुन सकते हैं।"},
heading:"आपका एक्सेस जल्द समाप्त होगा",body:({endsOn:l,earlyRenewal:o})=>`\
आपका प्लान ${l} तक मान्य है। उसके बाद आपका एक्सेस समाप्त होगा। `+
{replace:"आप प्लान उस दिन या बाद में फिर से ख़रीद सकते हैं।",
extend:"एक्सेस बनाए रखने के लिए उससे पहले प्लान नवीनीकृत करें: नई अवधि इसमें जुड़ेगी, और आपका कोई दिन नहीं घटेगा।",
none:"यह प्लान अब बिक्री पर नहीं है। आप कोई दूसरा चुन सकते हैं।"}[o],
note:n},subscriptionEnded:{subject:({planName:l})=>`आपका ${l} प्लान समाप्त हो गया है`,
preview:l=>`आपका एक्सेस ${l} को समाप्त हुआ।`,heading:"आपका एक्सेस समाप्त हो \
गया है",body:({planName:l,endsOn:o,refunded:f,nextCharge:d},h)=>f===void 0?`आपके ${l} प्लान का एक्सेस ${h}\
 को समाप्त हुआ। आप कभी भी वापस आ सकते हैं।`:`आपके ${l}\
 प्लान का एक्सेस ${o} को समाप्त हुआ, क्योंकि ${f} लौटाए गए\
। ${e(d)}`,note:"यदि आपने इस बीच कोई प्लान ख़रीद लिया है, तो कुछ करने की ज़रूरत नहीं है।"}}};var ts={en:Eo,hi:Ro},Co=new Map;function b(e="en"){let n=Co.get(e)??ts[e]();return Co.set(e,n),n}var Oe={page:"#f4f4f5",card:"#ffffff",border:"#e4e4e7",text:"#18181b",muted:"#52525b",action:"#1d4ed8",onAction:"#ffffff"},
rt={page:"#18181b",card:"#27272a",border:"#3f3f46",text:"#f4f4f5",muted:"#c4c4cc"},Ge={fontFamily:"-apple-system, BlinkM\
acSystemFont, 'Segoe UI', Roboto, Helvetica, Arial, sans-serif",fontSize:"16px",lineHeight:"24px",color:Oe.text},rs={wordBreak:"\
break-word",overflowWrap:"anywhere"},oe={page:{...Ge,...rs,margin:"0",padding:"24px 8px",backgroundColor:Oe.page},card:{
maxWidth:"560px",padding:"28px 20px",backgroundColor:Oe.card,border:`1px solid ${Oe.border}`,borderRadius:"8px"},heading:{
...Ge,margin:"0 0 20px",fontSize:"22px",lineHeight:"28px",fontWeight:600},text:{...Ge,margin:"0 0 16px"},details:{width:"\
100%",margin:"0 0 24px",borderCollapse:"collapse",tableLayout:"fixed"},label:{...Ge,width:"36%",padding:"10px 12px 10px \
0",borderTop:`1px solid ${Oe.border}`,color:Oe.muted,fontSize:"14px",fontWeight:400,textAlign:"left",verticalAlign:"top"},
value:{...Ge,fontSize:"15px",padding:"10px 0",borderTop:`1px solid ${Oe.border}`,verticalAlign:"top"},action:{...Ge,padding:"\
12px 20px",borderRadius:"6px",backgroundColor:Oe.action,color:Oe.onAction,fontWeight:600},brand:{maxWidth:"560px",padding:"\
0 4px"},logo:{margin:"0 0 16px"},name:{...Ge,margin:"0 0 16px",fontSize:"18px",fontWeight:600},footer:{...Ge,margin:"16p\
x 0 0",color:Oe.muted,fontSize:"13px",lineHeight:"20px",whiteSpace:"pre-line"},note:{...Ge,margin:"24px 0 0",color:Oe.muted,
fontSize:"14px",lineHeight:"20px"}};function Ao(e){if(e===void 0)return{};let[n=0,t=0,r=0]=[1,3,5].map(u=>is(parseInt(e.
slice(u,u+2),16)/255)),i=.2126*n+.7152*t+.0722*r,a=1.05/(i+.05)>(i+.05)/.05;return{backgroundColor:e,color:a?"#ffffff":"\
#000000"}}function is(e){return e<=.04045?e/12.92:((e+.055)/1.055)**2.4}var V={page:"dark-page",card:"dark-card",text:"d\
ark-text",muted:"dark-muted",line:"dark-line"},No=`
:root { color-scheme: light dark; supported-color-schemes: light dark; }
@media (prefers-color-scheme: dark) {
  .${V.page}, .${V.page} > table > tbody > tr > td { background-color: ${rt.page} !important; }
  .${V.card} { background-color: ${rt.card} !important; border-color: ${rt.border} !important; }
  .${V.text} { color: ${rt.text} !important; }
  .${V.muted} { color: ${rt.muted} !important; }
  .${V.line} { border-color: ${rt.border} !important; }
}`;var E=v(w(),1);function A({subject:e,preview:n,heading:t,displayName:r,body:i,details:a,action:u,note:s,look:c={}}){let{
lang:l,hello:o}=b(c.locale);return(0,E.jsxs)(Br,{lang:l,children:[(0,E.jsxs)(Yr,{children:[(0,E.jsx)("meta",{name:"viewp\
ort",content:"width=device-width, initial-scale=1"}),(0,E.jsx)("meta",{name:"color-scheme",content:"light dark"}),(0,E.jsx)(
"meta",{name:"supported-color-schemes",content:"light dark"}),(0,E.jsx)("title",{children:e}),(0,E.jsx)("style",{children:No})]}),
(0,E.jsxs)(It,{className:V.page,style:oe.page,children:[(0,E.jsx)(Yt,{useTitleTag:!1,children:n}),(0,E.jsx)(as,{look:c}),
(0,E.jsxs)(kn,{className:V.card,style:oe.card,children:[(0,E.jsx)(Ht,{className:V.text,style:oe.heading,children:t}),(0,E.jsx)(
We,{className:V.text,style:oe.text,children:(0,E.jsx)(os,{hello:o,name:r.trim()})}),(0,E.jsx)(We,{className:V.text,style:oe.
text,children:i}),(0,E.jsx)(us,{details:a}),(0,E.jsx)(zt,{children:(0,E.jsx)(Ft,{href:So(u.url),style:{...oe.action,...Ao(
c.accent)},children:u.label})}),(0,E.jsx)(We,{className:V.muted,style:oe.note,children:s})]}),(0,E.jsx)(ls,{look:c})]})]})}
function as({look:{brand:e,logoUrl:n}}){return!e&&!n?null:(0,E.jsx)(kn,{style:oe.brand,children:n?(0,E.jsx)(Dt,{src:So(n),
alt:e??"",height:"32",style:oe.logo}):(0,E.jsx)(We,{className:V.text,style:oe.name,children:e})})}function ls({look:{footer:e}}){
return e?(0,E.jsx)(kn,{style:oe.brand,children:(0,E.jsx)(We,{className:V.muted,style:oe.footer,children:e})}):null}function os({
hello:e,name:n}){return n===""?`${e},`:(0,E.jsxs)(E.Fragment,{children:[e," ",(0,E.jsx)("bdi",{children:n}),","]})}function us({
details:e}){return(0,E.jsx)("table",{width:"100%",cellPadding:"0",cellSpacing:"0",style:oe.details,children:(0,E.jsx)("t\
body",{children:e.map(({label:n,value:t})=>(0,E.jsxs)("tr",{children:[(0,E.jsx)("th",{scope:"row",className:`${V.muted} ${V.
line}`,style:oe.label,children:n}),(0,E.jsx)("td",{className:`${V.text} ${V.line}`,style:oe.value,children:(0,E.jsx)("bd\
i",{children:t})})]},n))})})}function So(e){if(!/^https?:$/.test(new URL(e).protocol))throw new Error("A mail links to h\
ttp(s) addresses only");return e}var _o=v(w(),1);function Xi(e,n=b()){let{displayName:t,planName:r,startsOn:i,undoUntil:a,pricingUrl:u}=e,{labels:s,actions:c,
changeScheduled:l}=n;return{subject:l.subject(e),preview:l.preview(e),heading:l.heading,displayName:t,body:l.body(e),details:[
{label:s.plan,value:r},{label:s.price,value:l.price(e)},{label:s.starts,value:i},...a===null?[]:[{label:s.undoUntil,value:a}]],
action:{label:c.plans,url:u},note:l.note}}function Oo(e){return(0,_o.jsx)(A,{...Xi(e)})}Oo.PreviewProps={displayName:"As\
ha Rao",planName:"Premium",amount:"₹1,499.00",interval:"every month",startsOn:"20 November 2027",undoUntil:"18 Novembe\
r 2027",pricingUrl:"https://app.example.com/pricing"};function zr({displayName:e,planName:n,validUntil:t,nextPlanName:r,nextCharge:i,pricingUrl:a},{labels:u,actions:s,amountOn:c}){
return{displayName:e,details:[{label:u.plan,value:n},...r===null?[]:[{label:u.nextPlan,value:r}],...i?[{label:u.nextPayment,
value:c(i.amount,i.on)}]:t===null?[]:[{label:u.validUntil,value:t}]],action:{label:s.plans,url:a}}}var Mo=v(w(),1);function Zi(e,n=b()){let t=n.changeUndone;return{subject:t.subject(e),preview:t.preview,heading:t.heading,
body:t.body(e),note:t.note,...zr(e,n)}}function ko(e){return(0,Mo.jsx)(A,{...Zi(e)})}ko.PreviewProps={displayName:"Asha \
Rao",planName:"Pro",validUntil:"20 November 2027",nextPlanName:null,nextCharge:{amount:"₹1,499.00",on:"20 November 202\
7"},pricingUrl:"https://app.example.com/pricing"};var Fo=v(w(),1);function Vi(e,n=b()){let{displayName:t,planName:r,amount:i,reason:a,retryUrl:u}=e,{labels:s,actions:c,paymentFailed:l}=n;
return{subject:l.subject(e),preview:l.preview(e),heading:l.heading,displayName:t,body:l.body,details:[{label:s.plan,value:r},
{label:s.amount,value:i},...a?.trim()?[{label:s.reason,value:a}]:[]],action:{label:c.retry,url:u},note:l.note}}function Io(e){
return(0,Fo.jsx)(A,{...Vi(e)})}Io.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"₹999.00",reason:"Your pa\
yment was declined by the bank. Try another payment method.",retryUrl:"https://app.example.com/pricing"};function Wr({planName:e,amount:n,accessEndsOn:t,isEnded:r},{labels:i,accessUntil:a}){return[{label:i.plan,value:e},...n===
void 0?[]:[{label:i.notCharged,value:n}],...t===null?[]:r?[{label:i.accessEnded,value:t}]:[{label:i.withoutPayment,value:a(
t)}]]}function Gr({manageUrl:e,pricingUrl:n},{actions:t}){return e===null?{label:t.plans,url:n}:{label:t.manage,url:e}}var Uo=v(w(),1);function Qi(e,n=b()){let t=n.paymentPending;return{subject:t.subject(e),preview:t.preview,heading:t.heading,
displayName:e.displayName,body:t.body(e),details:Wr(e,n),action:Gr(e,n),note:t.note}}function Lo(e){return(0,Uo.jsx)(A,{
...Qi(e)})}Lo.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"₹1,499.00",accessEndsOn:"20 November 2027",isEnded:!1,
manageUrl:"https://gateway.example.com/s/29QQoUBi66xm2f",pricingUrl:"https://app.example.com/pricing"};var Do=v(w(),1);function Ji(e,n=b()){let{displayName:t,planName:r,refunded:i,paid:a,paidOn:u,transactionId:s,accessEndsOn:c,
pricingUrl:l}=e,{labels:o,actions:f,amountOn:d,paymentRefunded:h}=n;return{subject:h.subject(e),preview:h.preview(e),heading:h.
heading,displayName:t,body:h.body(e),details:[{label:o.plan,value:r},{label:o.refunded,value:i},{label:o.payment,value:d(
a,u)},{label:o.transaction,value:s},...c===null?[]:[{label:o.accessUntil,value:c}]],action:{label:f.plans,url:l},note:h.
note}}function Ho(e){return(0,Do.jsx)(A,{...Ji(e)})}Ho.PreviewProps={displayName:"Asha Rao",planName:"Pro",refunded:"₹49\
9.00",paid:"₹1,499.00",paidOn:"1 November 2027",transactionId:"pay_29QQoUBi66xm2f",accessPlanName:"Pro",accessEndsOn:"\
20 November 2027",nextCharge:{amount:"₹1,499.00",on:"20 November 2027"},pricingUrl:"https://app.example.com/pricing"};function Xr({planName:e,amount:n,validUntil:t,nextPaymentOn:r,startsOn:i,transactionId:a},{labels:u}){return[{label:u.plan,
value:e},{label:u.amountPaid,value:n},...i===void 0?[]:[{label:u.starts,value:i}],{label:u.validUntil,value:t},...r===void 0?
[]:[{label:u.nextPayment,value:r}],{label:u.transaction,value:a}]}var Bo=v(w(),1);function Ki(e,n=b()){let t=n.paymentSuccess;return{subject:t.subject(e),preview:t.preview(e),heading:t.heading,
displayName:e.displayName,body:t.body(e),details:Xr(e,n),action:{label:n.actions.dashboard,url:e.dashboardUrl},note:t.note}}
function Yo(e){return(0,Bo.jsx)(A,{...Ki(e)})}Yo.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"₹999.00",
transactionId:"pay_29QQoUBi66xm2f",validUntil:"20 November 2027",dashboardUrl:"https://app.example.com/dashboard"};function zo({heading:e,displayName:n,body:t,details:r,action:i,note:a},{brand:u,footer:s,locale:c}){let l=n.trim(),{hello:o}=b(
c);return`${[...u?[u]:[],e,l===""?`${o},`:`${o} ${l},`,t,r.map(({label:d,value:h})=>`${d}: ${h}`).join(`
`),`${i.label}: ${i.url}`,a,...s?[s]:[]].join(`

`)}
`}var Go=v(w(),1);function ji(e,n=b()){let{displayName:t,planName:r,credit:i,amount:a,validUntil:u,nextCharge:s,isAuthorised:c,
pricingUrl:l}=e,{labels:o,actions:f,amountOn:d,planChanged:h}=n;return{subject:h.subject(e),preview:h.preview(e),heading:h.
heading,displayName:t,body:h.body(e),details:[{label:o.plan,value:r},...i===null?[]:[{label:o.credit,value:i}],...a===null?
[]:[{label:o.amountPaid,value:a}],{label:o.validUntil,value:u},...!s||!c?[]:[{label:o.nextPayment,value:d(s.amount,s.on)}]],
action:{label:f.plans,url:l},note:h.note}}function Wo(e){return(0,Go.jsx)(A,{...ji(e)})}Wo.PreviewProps={displayName:"As\
ha Rao",planName:"Pro",oldPlanName:"Basic",credit:"₹49.00",amount:"₹1,450.00",validUntil:"20 November 2027",nextCharge:{
amount:"₹1,499.00",on:"20 November 2027"},isAuthorised:!1,pricingUrl:"https://app.example.com/pricing"};var Zo=v(w(),1);function qi(e,n=b()){let{displayName:t,documentNumber:r,date:i,total:a,dashboardUrl:u}=e,{labels:s,actions:c,
titles:l,receiptIssued:o}=n,f=l[e.title]??e.title;return{subject:o.subject({...e,title:f}),preview:o.preview(e),heading:f,
displayName:t,body:o.body(e),details:[{label:s.number,value:r},{label:s.date,value:i},{label:s.total,value:a}],action:{label:c.
dashboard,url:u},note:o.note}}function Xo(e){return(0,Zo.jsx)(A,{...qi(e)})}Xo.PreviewProps={displayName:"Asha Rao",title:"\
Tax invoice",documentNumber:"2728/000102",date:"20 November 2027",total:"₹1,499.00",dashboardUrl:"https://app.example.\
com/dashboard"};var Qo=v(w(),1);function $i(e,n=b()){let{displayName:t,planName:r,accessEndsOn:i,isEnded:a,resumeUntil:u,pricingUrl:s}=e,
{labels:c,actions:l,subscriptionCancelled:o}=n;return{subject:o.subject(e),preview:o.preview(e),heading:o.heading,displayName:t,
body:o.body(e),details:[{label:c.plan,value:r},...i===null?[]:[{label:a?c.accessEnded:c.accessUntil,value:i}],...u===null?
[]:[{label:c.resumeUntil,value:u}]],action:{label:l.plans,url:s},note:o.note}}function Vo(e){return(0,Qo.jsx)(A,{...$i(e)})}
Vo.PreviewProps={displayName:"Asha Rao",planName:"Pro",accessEndsOn:"20 November 2027",isEnded:!1,resumeUntil:"18 Novemb\
er 2027",pricingUrl:"https://app.example.com/pricing"};var Ko=v(w(),1);function ea(e,n=b()){let{displayName:t,planName:r,endsOn:i,pricingUrl:a}=e,{labels:u,actions:s,subscriptionCompleted:c}=n;
return{subject:c.subject(e),preview:c.preview(e),heading:c.heading,displayName:t,body:c.body(e),details:[{label:u.plan,value:r},
{label:u.paidUntil,value:i}],action:{label:s.plans,url:a},note:c.note}}function Jo(e){return(0,Ko.jsx)(A,{...ea(e)})}Jo.
PreviewProps={displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",accessEndsOn:"20 November 2027",isEnded:!1,
pricingUrl:"https://app.example.com/pricing"};var qo=v(w(),1);function na(e,n=b()){let{displayName:t,planName:r,endsOn:i,accessEndedOn:a=i,pricingUrl:u,refunded:s}=e,
{labels:c,actions:l,subscriptionEnded:o}=n;return{subject:o.subject(e),preview:o.preview(a),heading:o.heading,displayName:t,
body:o.body(e,a),details:[{label:c.plan,value:r},...a===i?[]:[{label:c.paidUntil,value:i}],{label:c.ended,value:a},...s===
void 0?[]:[{label:c.refunded,value:s}]],action:{label:l.plans,url:u},note:o.note}}function jo(e){return(0,qo.jsx)(A,{...na(
e)})}jo.PreviewProps={displayName:"Asha Rao",planName:"Pro",endsOn:"20 November 2027",pricingUrl:"https://app.example.co\
m/pricing"};var eu=v(w(),1);function ta(e,n=b()){let{displayName:t,planName:r,endsOn:i,pricingUrl:a,earlyRenewal:u}=e,{labels:s,actions:c,
subscriptionEnding:l}=n;return{subject:l.subject(e),preview:l.preview[u],heading:l.heading,displayName:t,body:l.body(e),
details:[{label:s.plan,value:r},{label:s.validUntil,value:i}],action:{label:u==="extend"?c.renew:c.plans,url:a},note:l.note}}
function $o(e){return(0,eu.jsx)(A,{...ta(e)})}$o.PreviewProps={displayName:"Asha Rao",planName:"Pro",endsOn:"20 November\
 2027",pricingUrl:"https://app.example.com/pricing",earlyRenewal:"replace"};var tu=v(w(),1);function ra(e,n=b()){let t=n.subscriptionHalted;return{subject:t.subject(e),preview:t.preview,heading:t.
heading,displayName:e.displayName,body:t.body(e),details:Wr(e,n),action:Gr(e,n),note:t.note}}function nu(e){return(0,tu.jsx)(
A,{...ra(e)})}nu.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"₹1,499.00",accessEndsOn:"20 November 2027",
isEnded:!1,manageUrl:"https://gateway.example.com/s/29QQoUBi66xm2f",pricingUrl:"https://app.example.com/pricing"};var iu=v(w(),1);function ia(e,n=b()){let t=n.subscriptionRenewed;return{subject:t.subject(e),preview:t.preview(e),heading:t.
heading,displayName:e.displayName,body:t.body,details:Xr(e,n),action:{label:n.actions.dashboard,url:e.dashboardUrl},note:t.
note}}function ru(e){return(0,iu.jsx)(A,{...ia(e)})}ru.PreviewProps={displayName:"Asha Rao",planName:"Pro",amount:"₹1,49\
9.00",transactionId:"pay_29QQoUBi66xm2f",validUntil:"20 November 2027",nextPaymentOn:"20 November 2027",dashboardUrl:"ht\
tps://app.example.com/dashboard"};var lu=v(w(),1);function aa(e,n=b()){let t=n.subscriptionResumed;return{subject:t.subject(e),preview:t.preview,heading:t.
heading,body:t.body(e),note:t.note,...zr(e,n)}}function au(e){return(0,lu.jsx)(A,{...aa(e)})}au.PreviewProps={displayName:"\
Asha Rao",planName:"Pro",validUntil:"20 November 2027",nextPlanName:null,nextCharge:{amount:"₹1,499.00",on:"20 Novembe\
r 2027"},pricingUrl:"https://app.example.com/pricing"};var Ld={paymentSuccess:(e,n)=>fe(Ki(e,b(n?.locale)),n),paymentFailed:(e,n)=>fe(Vi(e,b(n?.locale)),n),paymentPending:(e,n)=>fe(
Qi(e,b(n?.locale)),n),paymentRefunded:(e,n)=>fe(Ji(e,b(n?.locale)),n),receiptIssued:(e,n)=>fe(qi(e,b(n?.locale)),n),changeScheduled:(e,n)=>fe(
Xi(e,b(n?.locale)),n),changeUndone:(e,n)=>fe(Zi(e,b(n?.locale)),n),planChanged:(e,n)=>fe(ji(e,b(n?.locale)),n),subscriptionResumed:(e,n)=>fe(
aa(e,b(n?.locale)),n),subscriptionCancelled:(e,n)=>fe($i(e,b(n?.locale)),n),subscriptionRenewed:(e,n)=>fe(ia(e,b(n?.locale)),
n),subscriptionHalted:(e,n)=>fe(ra(e,b(n?.locale)),n),subscriptionCompleted:(e,n)=>fe(ea(e,b(n?.locale)),n),subscriptionEnding:(e,n)=>fe(
ta(e,b(n?.locale)),n),subscriptionEnded:(e,n)=>fe(na(e,b(n?.locale)),n)},cs='<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.\
0 Transitional//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-transitional.dtd">';function fe(e,n={}){return{subject:e.subject.
replace(/[\s\p{Cc}]+/gu," "),html:cs+(0,uu.renderToStaticMarkup)((0,ou.createElement)(A,{...e,look:n})),text:zo(e,n)}}export{Ld as mails};
/*! Bundled license information:

react/cjs/react.production.js:
  (**
   * @license React
   * react.production.js
   *
   * Copyright (c) Meta Platforms, Inc. and affiliates.
   *
   * This source code is licensed under the MIT license found in the
   * LICENSE file in the root directory of this source tree.
   *)

react-dom/cjs/react-dom.production.js:
  (**
   * @license React
   * react-dom.production.js
   *
   * Copyright (c) Meta Platforms, Inc. and affiliates.
   *
   * This source code is licensed under the MIT license found in the
   * LICENSE file in the root directory of this source tree.
   *)

react-dom/cjs/react-dom-server-legacy.browser.production.js:
  (**
   * @license React
   * react-dom-server-legacy.browser.production.js
   *
   * Copyright (c) Meta Platforms, Inc. and affiliates.
   *
   * This source code is licensed under the MIT license found in the
   * LICENSE file in the root directory of this source tree.
   *)

react/cjs/react-jsx-runtime.production.js:
  (**
   * @license React
   * react-jsx-runtime.production.js
   *
   * Copyright (c) Meta Platforms, Inc. and affiliates.
   *
   * This source code is licensed under the MIT license found in the
   * LICENSE file in the root directory of this source tree.
   *)
*/
