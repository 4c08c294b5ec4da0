// Every stylesheet, in the order in which later ones may lean on earlier ones.
import "@xyflow/react/dist/base.css";
import "./tokens.css";
import "./base.css";
import "./controls.css";
import "./shell.css";
import "./panels.css";
import "./drawer.css";
import "./home.css";
import "./phone.css";
import "../forms/forms.css";
import "../canvas/canvas.css";
import "../canvas/node.css";
import "../canvas/pins.css";
import "../canvas/meter.css";
import "../canvas/wires.css";
